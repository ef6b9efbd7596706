import { linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { editTool } from '../../../tools/files/edit/index.ts';
import { readTool } from '../../../tools/files/read/index.ts';
import { writeTool } from '../../../tools/files/write.ts';
import { fileServices } from '../../helpers/file-services.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { toolSession, writeTree } from '../../helpers/tool-session.ts';

const services = fileServices();
const write = writeTool(services);
const read = readTool(services);

describe('writing a file', () => {
  it('creates it with its folders, exactly as given', async () => {
    const root = temporaryFolder();
    const answer = await toolSession(root).run(write, { file_path: 'a/b/c.txt', content: 'one\r\ntwo' });
    expect(readFileSync(join(root, 'a/b/c.txt'), 'utf8')).toBe('one\r\ntwo');
    expect(answer).toMatch(/^Created .* \(8 bytes\)$/);
  });

  it('overwrites what was read and answers with the diff', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': 'old\nsame\n' });
    const session = toolSession(root);
    await session.run(read, { file_path: 'a.txt' });
    expect(await session.run(write, { file_path: 'a.txt', content: 'new\nsame\n' })).toContain('-old\n+new\n same');
  });

  it('counts as having read what was written', async () => {
    const root = temporaryFolder();
    const session = toolSession(root);
    await session.run(write, { file_path: 'a.txt', content: 'first' });
    await session.run(editTool(services), { file_path: 'a.txt', old_string: 'first', new_string: 'second' });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('second');
  });

  it('is refused over a file that was not read', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': 'theirs' });
    expect(await toolSession(root).refusal(write, { file_path: 'a.txt', content: 'mine' })).toContain('Read it first');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('theirs');
  });

  it('is refused over a file that was read only in part, until the rest was read', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': 'one\ntwo\nthree\nfour\n' });
    const session = toolSession(root);
    const refusal = () => session.refusal(write, { file_path: 'a.txt', content: 'mine' });
    await session.run(read, { file_path: 'a.txt', limit: 1 });
    expect(await refusal()).toContain('only part of it was read in this session. Read the rest first, from line 2 on');
    await session.run(read, { file_path: 'a.txt', offset: 3 });
    expect(await refusal()).toContain('from line 2 on');
    await session.run(editTool(services), { file_path: 'a.txt', old_string: 'four', new_string: '4' });
    expect(await refusal()).toContain('Read it whole first');
    await session.run(read, { file_path: 'a.txt', offset: 2 });
    expect(await refusal()).toContain('from line 1 on');
    await session.run(read, { file_path: 'a.txt', offset: 1, limit: 2 });
    await session.run(write, { file_path: 'a.txt', content: 'mine' });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('mine');
  });

  it('is not refused because a page of a file that was read whole was read again', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': 'one\ntwo\n' });
    const session = toolSession(root);
    await session.run(read, { file_path: 'a.txt' });
    await session.run(read, { file_path: 'a.txt', offset: 2, limit: 1 });
    await session.run(write, { file_path: 'a.txt', content: 'mine' });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('mine');
  });

  it('is refused over a file with a line that is longer than Read shows', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': `${'long '.repeat(2_000)}\n` });
    const session = toolSession(root);
    await session.run(read, { file_path: 'a.txt' });
    expect(await session.refusal(write, { file_path: 'a.txt', content: 'mine' })).toContain('Read cuts lines as long');
  });

  it('is refused over a file that changed since', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': 'read' });
    const session = toolSession(root);
    await session.run(read, { file_path: 'a.txt' });
    writeFileSync(join(root, 'a.txt'), 'changed');
    expect(await session.refusal(write, { file_path: 'a.txt', content: 'mine' })).toContain(
      'changed after it was read',
    );
  });

  it.each([
    ['.', /Cannot write "\.": it is a folder\. Give the path of a file/],
    ['folder/', /folder/],
    ['dangling', /does not exist/],
    ['/proc/self/x', /kernel/],
    ['/dev/full', /kernel/],
  ])('to %s is refused', async (path, message) => {
    const root = temporaryFolder();
    const outside = temporaryFolder();
    symlinkSync(join(outside, 'x'), join(root, 'dangling'));
    expect(await toolSession(root).refusal(write, { file_path: path, content: 'x' })).toMatch(message);
    expect(readdirSync(outside)).toEqual([]);
  });

  it('through a link writes its target and keeps the link', async () => {
    const root = writeTree(temporaryFolder(), { 'target.txt': 'old' });
    symlinkSync(join(root, 'target.txt'), join(root, 'link.txt'));
    const session = toolSession(root);
    await session.run(read, { file_path: 'link.txt' });
    await session.run(write, { file_path: 'link.txt', content: 'new' });
    expect(readFileSync(join(root, 'target.txt'), 'utf8')).toBe('new');
  });

  it('over a hard link leaves the other name as it was', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': 'old' });
    linkSync(join(root, 'a.txt'), join(root, 'b.txt'));
    const session = toolSession(root);
    await session.run(read, { file_path: 'a.txt' });
    await session.run(write, { file_path: 'a.txt', content: 'new' });
    expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('old');
  });
});
