/** Where there is no room for the past of a file, the edit goes on and says so. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../config/limits.ts';
import { createFileHistory } from '../../../../src/files/history.ts';
import { call, changingSessions } from '../../../helpers/changing-sessions.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const BEFORE = `${'a'.repeat(100_000)}\nend`;
const ALL = { after: 0, limit: 100 };

/** A disk of 64 KiB, mounted; where that is not allowed, a file stands where the folder should be. */
function fullDisk(): { readonly folder: string; readonly reason: string } {
  const folder = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder], { stdio: 'ignore' });
    afterAll(() => execFileSync('umount', ['-l', folder]));
    return { folder, reason: 'disk_full' };
  } catch {
    // Only root may mount: another disk that refuses will do.
    writeFileSync(join(folder, 'file'), '');
    return { folder: join(folder, 'file'), reason: 'disk_error' };
  }
}

describe('an edit whose past finds no room', () => {
  const { folder, reason } = fullDisk();
  const onFullDisk = createFileHistory({ folder: (sessionId) => join(folder, sessionId), limits: DEFAULT_LIMITS });
  const kept = temporaryFolder();
  const smallFiles = createFileHistory({
    folder: (sessionId) => join(kept, sessionId),
    limits: DEFAULT_LIMITS,
    maxFileBytes: 1_000,
  });
  const worlds = {
    [reason]: changingSessions({}, onFullDisk),
    too_large: changingSessions({}, smallFiles),
    history_full: changingSessions({ historySessionBytes: 1_000 }),
  };

  it.each(Object.entries(worlds))('is made, listed with its reason (%s), and not undone', async (why, world) => {
    const path = join(world.workspace, 'file');
    writeFileSync(path, BEFORE);
    const session = await world.begin();
    await call(session, 'Read', { file_path: path, offset: 2 });
    await call(session, 'Edit', { file_path: path, old_string: 'end', new_string: 'changed' });
    const { changes } = await session.changes.list(ALL);
    expect(changes).toMatchObject([{ undoable: false, reason: why, undone: false, diff_omitted: 'not_kept' }]);
    const undo = session.changes.undo({ toSeq: 0 }, 'owner');
    await expect(undo).rejects.toMatchObject({ code: 'conflict', details: { reason: 'not_undoable', paths: [path] } });
    expect(readFileSync(path, 'utf8').endsWith('changed')).toBe(true);
  });
});
