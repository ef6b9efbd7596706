import { chmodSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { editTool } from '../../../tools/files/edit/index.ts';
import { readTool } from '../../../tools/files/read/index.ts';
import { fileServices } from '../../helpers/file-services.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { type ToolSession, toolSession, writeTree } from '../../helpers/tool-session.ts';

const services = fileServices();
const edit = editTool(services);
const read = readTool(services);

async function opened(content: string | Uint8Array, changes = {}): Promise<{ session: ToolSession; path: string }> {
  const root = writeTree(temporaryFolder(), { 'a.txt': content });
  const session = toolSession(root, changes);
  await session.run(read, { file_path: 'a.txt' });
  return { session, path: join(root, 'a.txt') };
}

describe('an edit', () => {
  it('replaces what occurs once and answers with the diff', async () => {
    const { session, path } = await opened('one\ntwo\nthree\n');
    const answer = await session.run(edit, { file_path: 'a.txt', old_string: 'two', new_string: 'TWO' });
    expect(readFileSync(path, 'utf8')).toBe('one\nTWO\nthree\n');
    expect(answer).toContain('-two\n+TWO');
  });

  it('replaces every occurrence when told to', async () => {
    const { session, path } = await opened('a b a b a');
    await session.run(edit, { file_path: 'a.txt', old_string: 'a', new_string: '$&', replace_all: true });
    expect(readFileSync(path, 'utf8')).toBe('$& b $& b $&');
  });

  it('may follow another without a read in between', async () => {
    const { session, path } = await opened('1\n2\n');
    await session.run(edit, { file_path: 'a.txt', old_string: '1', new_string: 'one' });
    await session.run(edit, { file_path: 'a.txt', old_string: '2', new_string: 'two' });
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  });

  it('keeps byte order mark, Windows lines and mode', async () => {
    const { session, path } = await opened('\ufeffone\r\ntwo\r\nthree\r\n');
    chmodSync(path, 0o750);
    await session.run(edit, { file_path: 'a.txt', old_string: 'one\ntwo', new_string: 'ONE\nTWO\nmore' });
    expect(readFileSync(path, 'utf8')).toBe('\ufeffONE\r\nTWO\r\nmore\r\nthree\r\n');
    expect(statSync(path).mode & 0o777).toBe(0o750);
  });

  it('leaves mixed line ends as they are', async () => {
    const { session, path } = await opened('one\r\ntwo\nthree\n');
    await session.run(edit, { file_path: 'a.txt', old_string: 'two\nthree', new_string: '2\n3' });
    expect(readFileSync(path, 'utf8')).toBe('one\r\n2\n3\n');
  });

  it('with an empty old_string creates a file and its folders', async () => {
    const root = temporaryFolder();
    const session = toolSession(root);
    await session.run(edit, { file_path: 'new/file.txt', old_string: '', new_string: 'content\n' });
    expect(readFileSync(join(root, 'new/file.txt'), 'utf8')).toBe('content\n');
  });

  it('of a file that was only touched is made', async () => {
    const { session, path } = await opened('same');
    utimesSync(path, new Date(), new Date(2_000_000_000_000));
    await session.run(edit, { file_path: 'a.txt', old_string: 'same', new_string: 'edited' });
    expect(readFileSync(path, 'utf8')).toBe('edited');
  });
});

describe('a refused edit', () => {
  it.each([
    [{ old_string: 'missing', new_string: 'x' }, /not found/],
    [{ old_string: 'twice', new_string: 'x' }, /occurs 2 times/],
    [{ old_string: 'once', new_string: 'once' }, /are equal/],
    [{ old_string: '', new_string: 'x' }, /it exists/],
  ])('%j says why and changes nothing', async (input, message) => {
    const { session, path } = await opened('once twice twice');
    expect(await session.refusal(edit, { file_path: 'a.txt', ...input })).toMatch(message);
    expect(readFileSync(path, 'utf8')).toBe('once twice twice');
  });

  it('names a file that was not read', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': 'x' });
    expect(await toolSession(root).refusal(edit, { file_path: 'a.txt', old_string: 'x', new_string: 'y' })).toContain(
      'Read it first',
    );
  });

  it('names a file that does not exist, and one like it', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': 'x' });
    expect(await toolSession(root).refusal(edit, { file_path: 'a.tx', old_string: 'x', new_string: 'y' })).toMatch(
      /Did you mean ".*a\.txt"/,
    );
  });

  it('says that the file changed, also at the same size and time', async () => {
    const { session, path } = await opened('first');
    const { atime, mtime } = statSync(path);
    writeFileSync(path, 'other');
    utimesSync(path, atime, mtime);
    expect(await session.refusal(edit, { file_path: 'a.txt', old_string: 'other', new_string: 'x' })).toContain(
      'changed after it was read',
    );
  });

  it('says which session of the same person overtook it', async () => {
    const { session, path } = await opened('first', { sessionId: 'mine' });
    const other = toolSession(join(path, '..'), { sessionId: 'theirs' });
    await other.run(read, { file_path: 'a.txt' });
    await other.run(edit, { file_path: 'a.txt', old_string: 'first', new_string: 'second' });
    expect(await session.refusal(edit, { file_path: 'a.txt', old_string: 'first', new_string: 'x' })).toContain(
      'by session "theirs" with Edit',
    );
  });

  it('does not name the session of somebody else', async () => {
    const { session, path } = await opened('first', { sessionId: 'mine' });
    const other = toolSession(join(path, '..'), { sessionId: 'theirs', principal: 'somebody else' });
    await other.run(read, { file_path: 'a.txt' });
    await other.run(edit, { file_path: 'a.txt', old_string: 'first', new_string: 'second' });
    expect(await session.refusal(edit, { file_path: 'a.txt', old_string: 'first', new_string: 'x' })).toContain(
      'by another session',
    );
  });

  it('before the gate has spoken says nothing of files outside', async () => {
    const outside = join(temporaryFolder(), 'secret');
    writeFileSync(outside, 'x');
    const context = toolSession(temporaryFolder()).context;
    const answers = [outside, `${outside}-not-there`].map((path) =>
      edit.validateInput?.({ file_path: path, old_string: 'x', new_string: 'y' }, {
        session: context,
        sessionFolder: '/nowhere',
        isReadDenied: () => false,
      } as never),
    );
    expect(await Promise.all(answers)).toEqual([{ result: true }, { result: true }]);
  });
});

describe('an edit, drawn', () => {
  it('grows with its input and never throws', () => {
    const steps = [
      {},
      { file_path: 'a' },
      { file_path: 'a', old_string: 'x' },
      { file_path: 'a', old_string: 'x', new_string: 'y' },
      { file_path: 7 } as never,
    ];
    const drawn = steps.map((step) => edit.renderToolUseMessage(step));
    expect(drawn.map((display) => display.title)).toEqual(['Edit …', 'Edit a', 'Edit a', 'Edit a', 'Edit …']);
    expect(drawn[3]?.blocks).toMatchObject([{ kind: 'diff' }]);
  });

  it('writes out characters that would hide a path', () => {
    expect(edit.renderToolUseMessage({ file_path: 'a\u202etxt' }).title).toBe('Edit a\\u{202e}txt');
  });
});
