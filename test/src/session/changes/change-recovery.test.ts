/** A server that died between a change's frame and the change itself: neither is lost, and none is made up. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileChange } from '../../../../src/wire/file-change.ts';
import type { NewFrame } from '../../../../src/wire/frames.ts';
import { keepFile } from '../../../../src/files/keep-file.ts';
import { sha256Of } from '../../../../src/files/file-state.ts';
import { changingSessions } from '../../../helpers/changing-sessions.ts';
import { blockOf } from '../../../helpers/session-services.ts';

describe('a change that was announced when the server died', () => {
  const { begin, directory, log, workspace, history } = changingSessions();
  const ALL = { after: 0, limit: 100 };

  /** What a server leaves that died in a call which was to make "new" of "old". */
  async function died(name: string) {
    const path = join(workspace, name);
    writeFileSync(path, 'old', { mode: 0o644 });
    const { id } = await begin();
    const { state: before } = await keepFile(history, id, path);
    const after = { sha256: sha256Of(Buffer.from('new')), size_bytes: 3, mode: '0644' };
    const change: FileChange = { path, kind: 'modified', before, after, undoable: true };
    await directory.close();
    const frames: NewFrame[] = [
      { type: 'tool_use', turn_id: 't', index: 0, tool_use: blockOf('Write', 'w'), display: { title: '', blocks: [] } },
      { type: 'started', tool_use_id: 'w' },
      { type: 'change', tool_use_id: 'w', ...change },
    ];
    await log.append(id, log.bounds(id)?.head ?? 0, frames);
    return { path, reopen: () => directory.open('owner', id) };
  }

  it("is not listed if it was never made, and stands in nobody's way", async () => {
    const { path, reopen } = await died('unmade');
    const session = await reopen();
    expect((await session.changes.list(ALL)).changes).toEqual([]);
    expect((await session.changes.undo({ toSeq: 0 }, 'owner')).files).toMatchObject([{ path, kind: 'none' }]);
    expect(readFileSync(path, 'utf8')).toBe('old');
  });

  it('is as little listed once its session has slept', async () => {
    const { path, reopen } = await died('slept');
    const { id } = await reopen();
    await directory.close();
    const session = await reopen();
    expect(log.fact(id, 'call:w')).toBeDefined();
    expect((await session.changes.list(ALL)).changes).toEqual([]);
    writeFileSync(path, 'new');
    expect((await session.changes.list(ALL)).changes).toMatchObject([{ path, tool_use_id: 'w' }]);
  });

  it('is listed and undone if it was made', async () => {
    const { path, reopen } = await died('made');
    writeFileSync(path, 'new');
    const session = await reopen();
    expect((await session.changes.list(ALL)).changes).toMatchObject([{ path, tool_use_id: 'w', undone: false }]);
    expect((await session.changes.undo({ toolUseId: 'w' }, 'owner')).files).toMatchObject([{ path, kind: 'modified' }]);
    expect(readFileSync(path, 'utf8')).toBe('old');
  });

  it('is not undone over what somebody else wrote', async () => {
    const { path, reopen } = await died('theirs');
    writeFileSync(path, 'their words');
    const session = await reopen();
    await expect(session.changes.undo({ toSeq: 0 }, 'owner')).rejects.toMatchObject({
      details: { reason: 'changed_since' },
    });
    expect(readFileSync(path, 'utf8')).toBe('their words');
  });
});
