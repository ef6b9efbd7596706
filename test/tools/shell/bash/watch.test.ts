/** What a command changes in files is listed where it can be seen, and says whether it can be taken back. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileChange } from '../../../../src/wire/file-change.ts';
import { observeFile } from '../../../../src/files/file-state.ts';
import { keepFile } from '../../../../src/files/keep-file.ts';
import { shellToolsIn } from '../../../helpers/shell-tools.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { plainReadState, sessionContextIn, toolUseContextIn } from '../../../helpers/tool-use-context.ts';

describe('the files a command changes', () => {
  const root = temporaryFolder();
  const shell = shellToolsIn(root);
  const at = (name: string) => join(root, name);

  /** Run a command in a session that has read `known`; what it reports. */
  async function changesOf(command: string, known: readonly string[] = []): Promise<readonly FileChange[]> {
    const reported: FileChange[] = [];
    let readState = plainReadState();
    for (const path of known.map(at)) {
      const { stats, state } = await observeFile(path, () => true);
      const seen = { mtimeMs: stats?.mtimeMs ?? 0, sizeBytes: stats?.size ?? 0, sha256: state?.sha256 ?? '' };
      readState = readState.with({ path, ...seen, isPartial: false });
    }
    const session = sessionContextIn(root, { readState });
    const where = toolUseContextIn(root, { session });
    const located = await Promise.all(
      (shell.tools.bash.paths?.({ command }) ?? []).map((use) => shell.locate(use, where)),
    );
    const changes = {
      announce: () => Promise.resolve(),
      report: (more: readonly FileChange[]) => void reported.push(...more),
    };
    await shell.run({ command }, { session, located, changes }).catch(() => undefined);
    return reported;
  }

  it('are kept where the command names them', async () => {
    writeFileSync(at('named'), 'before\n');
    const [change] = await changesOf('echo after >> named');
    expect(change).toMatchObject({ path: at('named'), kind: 'modified', before: { size_bytes: 7 }, undoable: true });
    expect(change?.after?.size_bytes).toBe(13);
  });

  it('are created and deleted', async () => {
    writeFileSync(at('old'), 'x');
    expect(await changesOf('mv old new; touch made')).toMatchObject([
      { path: at('old'), kind: 'deleted', undoable: true },
      { path: at('new'), kind: 'created', undoable: true },
      { path: at('made'), kind: 'created', undoable: true },
    ]);
  });

  it('are seen where the session knows them, and not undone: somebody else may have saved them', async () => {
    writeFileSync(at('known'), 'before');
    await keepFile(shell.history, 'session-1', at('known'));
    const [change] = await changesOf("n=known; eval 'echo x > $n'", ['known']);
    expect(change).toMatchObject({ path: at('known'), kind: 'modified', undoable: false, reason: 'not_foreseen' });
    expect(change?.before?.sha256).toHaveLength(64);
  });

  it('are kept where they lie in a folder that the command names', async () => {
    mkdirSync(at('folder'));
    writeFileSync(at('folder/known'), 'before');
    const changes = await changesOf('rm -r folder', ['folder/known']);
    expect(changes).toMatchObject([{ path: at('folder/known'), kind: 'deleted', undoable: true }]);
  });

  it('are found in the folder they were moved to', async () => {
    mkdirSync(at('target'));
    writeFileSync(at('moved'), 'x');
    expect(await changesOf('mv moved target/')).toMatchObject([
      { path: at('moved'), kind: 'deleted', undoable: true },
      { path: at('target/moved'), kind: 'created', undoable: true },
    ]);
  });

  it('are seen where a program is told of them, and not kept', async () => {
    writeFileSync(at('told.txt'), 'x');
    const script = "require('fs').writeFileSync(process.argv[1], 'y')";
    const [change] = await changesOf(`node -e "${script}" told.txt`);
    expect(change).toMatchObject({ path: at('told.txt'), undoable: false, reason: 'not_foreseen' });
  });

  it('are listed when the command fails, too', async () => {
    expect(await changesOf('echo x > half; false')).toMatchObject([{ path: at('half'), kind: 'created' }]);
  });

  it('show new permissions, and not a new time', async () => {
    writeFileSync(at('same'), 'same', { mode: 0o644 });
    expect(await changesOf('touch same')).toEqual([]);
    expect(await changesOf('chmod 600 same')).toMatchObject([{ before: { mode: '0644' }, after: { mode: '0600' } }]);
  });

  it('are not looked for when the command only reads', async () => {
    writeFileSync(at('read'), 'x');
    expect(await changesOf('cat read', ['read'])).toEqual([]);
  });
});
