/** What a session changed is listed, and put back exactly or not at all. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isGauntletError } from '../../../../src/base/errors.ts';
import type { Session } from '../../../../src/session/session.ts';
import { call, changingSessions, tryCall } from '../../../helpers/changing-sessions.ts';
import { blockOf, framesOf } from '../../../helpers/session-services.ts';

const ALL = { after: 0, limit: 100 };

/** Why something was refused: its code and reason, and the paths. */
async function refusal(work: () => Promise<unknown>) {
  const error: unknown = await Promise.resolve()
    .then(work)
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  if (!isGauntletError(error)) throw new Error(`Not refused as expected: ${String(error)}`);
  return { code: error.code, ...error.details };
}

describe('an undo', () => {
  const { begin, workspace, history } = changingSessions();
  const at = (name: string) => join(workspace, name);
  const write = (session: Session, name: string, content: string) =>
    call(session, 'Write', { file_path: name, content });
  const edit = (session: Session, name: string, old_string: string, new_string: string) =>
    call(session, 'Edit', { file_path: name, old_string, new_string });

  /** A session that has read a file which was there before it. */
  async function knowing(name: string, content: string) {
    writeFileSync(at(name), content);
    const session = await begin();
    await call(session, 'Read', { file_path: name });
    return session;
  }

  it('gives back bytes and permissions of one call', async () => {
    const session = await knowing('tool.sh', 'one\r\n\ttwo');
    chmodSync(at('tool.sh'), 0o751);
    const id = await edit(session, 'tool.sh', 'one', 'three');
    const { files } = await session.changes.undo({ toolUseId: id }, 'owner');
    expect(files).toMatchObject([{ path: at('tool.sh'), kind: 'modified', state: { mode: '0751' } }]);
    expect(readFileSync(at('tool.sh'), 'utf8')).toBe('one\r\n\ttwo');
    expect(statSync(at('tool.sh')).mode & 0o777).toBe(0o751);
  });

  it('removes a file that was made, and the folders that were made for it', async () => {
    const session = await begin();
    await write(session, 'deep/er/x', 'x');
    await write(session, 'deep/y', 'y');
    await session.changes.undo({ toSeq: 0 }, 'owner');
    expect(existsSync(at('deep'))).toBe(false);
  });

  it('leaves a folder in which somebody else put something', async () => {
    const session = await begin();
    await write(session, 'shared/x', 'x');
    writeFileSync(at('shared/theirs'), '');
    await session.changes.undo({ toSeq: 0 }, 'owner');
    expect([existsSync(at('shared/x')), existsSync(at('shared/theirs'))]).toEqual([false, true]);
  });

  it('takes all back that came after a frame, and no more', async () => {
    const session = await begin();
    await write(session, 'kept.txt', 'kept');
    const { head } = session.bounds();
    await edit(session, 'kept.txt', 'kept', 'changed');
    await edit(session, 'kept.txt', 'changed', 'again');
    await write(session, 'new.txt', 'new');
    const reply = await session.changes.undo({ toSeq: head }, 'owner');
    expect(reply.files.map(({ path, kind }) => [path, kind])).toEqual([
      [at('new.txt'), 'deleted'],
      [at('kept.txt'), 'modified'],
    ]);
    expect(readFileSync(at('kept.txt'), 'utf8')).toBe('kept');
  });

  it('is a frame, and is seen in the list', async () => {
    const session = await begin();
    const id = await write(session, 'framed', 'x');
    const { seq } = await session.changes.undo({ toolUseId: id }, 'owner');
    const frame = (await framesOf(session)).at(-1);
    expect(frame).toMatchObject({
      type: 'undo',
      seq,
      tool_use_id: id,
      by: 'owner',
      files: [{ kind: 'deleted' }],
      left: [],
    });
    const { changes } = await session.changes.list(ALL);
    expect(changes).toMatchObject([{ tool_use_id: id, tool_name: 'Write', undone: true, undone_by: seq }]);
  });

  it('has nothing more to do the second time', async () => {
    const session = await begin();
    const id = await write(session, 'twice', 'x');
    await session.changes.undo({ toolUseId: id }, 'owner');
    expect(await session.changes.undo({ toolUseId: id }, 'owner')).toEqual({ files: [], left: [] });
  });

  it.each([
    ['content', (path: string) => writeFileSync(path, 'theirs')],
    ['permissions', (path: string) => chmodSync(path, 0o600)],
    ['link', (path: string) => (rmSync(path), symlinkSync('/etc/hostname', path))],
  ])('touches nothing when one file has another %s by now', async (what, change) => {
    const session = await begin();
    await write(session, `${what}-1`, 'one');
    await write(session, `${what}-2`, 'two');
    change(at(`${what}-1`));
    const refused = await refusal(() => session.changes.undo({ toSeq: 0 }, 'owner'));
    expect(refused).toEqual({ code: 'conflict', reason: 'changed_since', paths: [at(`${what}-1`)] });
    expect(readFileSync(at(`${what}-2`), 'utf8')).toBe('two');
  });

  it('does not make a file again that somebody else removed', async () => {
    const session = await knowing('removed', 'one');
    await edit(session, 'removed', 'one', 'two');
    rmSync(at('removed'));
    expect(await refusal(() => session.changes.undo({ toSeq: 0 }, 'owner'))).toMatchObject({ reason: 'changed_since' });
    expect(existsSync(at('removed'))).toBe(false);
  });

  it('finds that a file it would remove is gone already', async () => {
    const session = await begin();
    await write(session, 'gone/already', 'x');
    rmSync(at('gone/already'));
    const { files } = await session.changes.undo({ toSeq: 0 }, 'owner');
    expect(files).toMatchObject([{ path: at('gone/already'), kind: 'none' }]);
    expect(existsSync(at('gone'))).toBe(false);
  });

  it('does not follow a folder that became a link', async () => {
    const session = await begin();
    await write(session, 'folder/x', 'x');
    rmSync(at('folder'), { recursive: true });
    mkdirSync(join(workspace, '../outside'), { recursive: true });
    writeFileSync(join(workspace, '../outside/x'), 'x');
    symlinkSync('../outside', at('folder'));
    expect(await refusal(() => session.changes.undo({ toSeq: 0 }, 'owner'))).toMatchObject({ reason: 'changed_since' });
    expect(existsSync(join(workspace, '../outside/x'))).toBe(true);
  });

  it('of a call names a later call that changed the same file', async () => {
    const session = await begin();
    const first = await write(session, 'later', 'one');
    const second = await edit(session, 'later', 'one', 'two');
    const refused = await refusal(() => session.changes.undo({ toolUseId: first }, 'owner'));
    expect(refused).toMatchObject({ code: 'conflict', reason: 'changed_later', tool_use_ids: [second] });
    await session.changes.undo({ toolUseId: second }, 'owner');
    await session.changes.undo({ toolUseId: first }, 'owner');
    expect(existsSync(at('later'))).toBe(false);
  });

  it('does not take back what somebody else did between two changes', async () => {
    const session = await begin();
    await write(session, 'between', 'one');
    writeFileSync(at('between'), 'theirs');
    await call(session, 'Read', { file_path: 'between' });
    await edit(session, 'between', 'theirs', 'ours');
    expect(await refusal(() => session.changes.undo({ toSeq: 0 }, 'owner'))).toMatchObject({ reason: 'changed_since' });
    expect(readFileSync(at('between'), 'utf8')).toBe('ours');
  });

  it('stops at a deny rule', async () => {
    const session = await begin();
    await write(session, 'denied', 'x');
    await session.updatePermissions([{ type: 'addRules', behavior: 'deny', rules: ['Edit(denied)'] }]);
    const refused = await refusal(() => session.changes.undo({ toSeq: 0 }, 'owner'));
    expect(refused).toMatchObject({ code: 'forbidden', reason: 'denied', paths: [at('denied')] });
    expect(existsSync(at('denied'))).toBe(true);
  });

  it('knows no call of that id', async () => {
    const session = await begin();
    expect(await refusal(() => session.changes.undo({ toolUseId: 'none' }, 'owner'))).toEqual({ code: 'not_found' });
  });

  it('waits for nobody: while a call runs or is asked about it is refused', async () => {
    const session = await begin({ mode: 'default', onAsk: 'wait' });
    const block = { ...blockOf('Write', 'asked'), input: { file_path: 'asked', content: 'x' } };
    await session.submit({ blocks: [block] });
    const refused = await refusal(() => session.changes.undo({ toSeq: 0 }, 'owner'));
    expect(refused).toEqual({ code: 'conflict', reason: 'calls_running' });
    session.cancel();
  });

  it('holds calls back while it works', async () => {
    const session = await begin();
    await write(session, 'held', 'one');
    const undone = session.changes.undo({ toSeq: 0 }, 'owner');
    const { text } = await tryCall(session, 'Edit', { file_path: 'held', old_string: 'one', new_string: 'two' });
    await undone;
    expect(text).toContain('does not exist');
  });

  it('makes the session read the file again, and says why', async () => {
    const session = await knowing('reread', 'one');
    const id = await edit(session, 'reread', 'one', 'two');
    await session.changes.undo({ toolUseId: id }, 'owner');
    const blind = await tryCall(session, 'Edit', { file_path: 'reread', old_string: 'one', new_string: 'three' });
    expect(blind).toMatchObject({ status: 'error', text: expect.stringContaining('last by an undo') });
    await call(session, 'Read', { file_path: 'reread' });
    await edit(session, 'reread', 'one', 'three');
  });

  it('makes the file stale for other sessions, which learn by whom', async () => {
    const session = await knowing('stale', 'one');
    const id = await edit(session, 'stale', 'one', 'two');
    const other = await begin();
    await call(other, 'Read', { file_path: 'stale' });
    await session.changes.undo({ toolUseId: id }, 'owner');
    const { text } = await tryCall(other, 'Edit', { file_path: 'stale', old_string: 'two', new_string: 'x' });
    expect(text).toContain(`last by session \\"${session.id}\\" with undo`);
  });

  it('keeps what it replaces, so that the list still shows it', async () => {
    const session = await knowing('shown', 'one\n');
    const id = await edit(session, 'shown', 'one', 'two');
    await session.changes.undo({ toolUseId: id }, 'owner');
    const { changes } = await session.changes.list(ALL);
    expect(changes[0]?.diff?.hunks[0]?.lines).toEqual(['-one', '+two']);
    expect(history.has(session.id, changes[0]?.after?.sha256 ?? '')).toBe(true);
  });
});
