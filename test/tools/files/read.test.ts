import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTool } from '../../../tools/files/read/index.ts';
import { fileServices } from '../../helpers/file-services.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { toolSession, writeTree } from '../../helpers/tool-session.ts';
import { allowEverything, parentMessage, toolUseContextIn } from '../../helpers/tool-use-context.ts';

const read = readTool(fileServices());
const numbered = (count: number) => `${Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')}\n`;

describe('reading text', () => {
  it('numbers lines as cat -n does', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': 'one\ntwo\n\nlast' });
    const shown = await toolSession(root).run(read, { file_path: 'a.txt' });
    expect(shown).toBe('     1\tone\n     2\ttwo\n     3\t\n     4\tlast');
    expect(`${shown}\n`).toBe(execFileSync('cat', ['-n', join(root, 'a.txt')]).toString() + '\n');
  });

  it('shows Windows lines and a byte order mark as plain text', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': '\ufeffone\r\ntwo\r\n' });
    expect(await toolSession(root).run(read, { file_path: 'a.txt' })).toBe('     1\tone\n     2\ttwo');
  });

  it('starts at the offset and stops at the limit', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': numbered(100) });
    expect(await toolSession(root).run(read, { file_path: 'a.txt', offset: 10, limit: 2 })).toBe(
      '    10\tline 10\n    11\tline 11',
    );
  });

  it('says that there is more and how to go on', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': numbered(5_000) });
    const shown = await toolSession(root).run(read, { file_path: 'a.txt' });
    expect(shown).toContain('  2000\tline 2000');
    expect(shown).not.toContain('line 2001');
    expect(shown).toMatch(/PARTIAL: lines 1-2000 of 5000 .*offset 2001/);
  });

  it('stops a page at its byte cap', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': `${'x'.repeat(999)}\n`.repeat(500) });
    const shown = await toolSession(root).run(read, { file_path: 'a.txt' });
    expect(shown.length).toBeLessThan(101_000);
    expect(shown).toContain('PARTIAL');
  });

  it('says that an empty file is empty and that an offset is past the end', async () => {
    const session = toolSession(writeTree(temporaryFolder(), { empty: '', one: 'a', short: 'a\nb\n' }));
    expect(await session.run(read, { file_path: 'empty' })).toContain('empty');
    expect(await session.run(read, { file_path: 'short', offset: 9 })).toContain('has 2 lines;');
    expect(await session.run(read, { file_path: 'one', offset: 9 })).toContain('has 1 line;');
  });

  it('shows the beginning of one endless line', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': 'x'.repeat(20_000_000) });
    const shown = await toolSession(root).run(read, { file_path: 'a.txt' });
    expect(shown).toMatch(/x{2000} \[cut: \d+ more/);
  });

  it('finds a line far into a large file without holding it', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': 'é'.repeat(49).concat('\n').repeat(200_000) });
    const shown = await toolSession(root).run(read, { file_path: 'a.txt', offset: 150_000, limit: 1 });
    expect(shown).toBe(`150000\t${'é'.repeat(49)}`);
  });

  it('a sparse file of five gigabytes is refused as binary at once', async () => {
    const root = writeTree(temporaryFolder(), { sparse: '' });
    truncateSync(join(root, 'sparse'), 5_000_000_000);
    expect(await toolSession(root).refusal(read, { file_path: 'sparse' })).toContain('not UTF-8 text');
  });

  it('a long line of a spilled result is shown to the end of the page', async () => {
    const root = writeTree(temporaryFolder(), { '.session-1/out.txt': 'y'.repeat(50_000) });
    expect(await toolSession(root).run(read, { file_path: '.session-1/out.txt' })).toContain('y'.repeat(50_000));
  });
});

describe('what cannot be read', () => {
  const root = writeTree(temporaryFolder(), {
    'Config.json': '{}',
    latin: Buffer.from([0x63, 0xe9, 0x0a]),
    'a.txt': 'x',
  });
  mkdirSync(join(root, 'folder'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
  symlinkSync('nowhere', join(root, 'dangling'));
  const session = toolSession(root);

  it.each([
    ['config.jsn', /does not exist\. Did you mean ".*Config\.json"/],
    ['nothing-like-it', /does not exist\. The working directory is/],
    ['folder', /it is a folder/],
    ['pipe', /not a regular file/],
    ['latin', /not UTF-8 text.*iconv/],
    ['dangling', /link to something that does not exist/],
    ['/dev/zero', /interface of the kernel/],
    ['/proc/self/environ', /interface of the kernel/],
    ['a\0b', /control/],
  ])('%j is answered with what is wrong', async (path, message) => {
    expect(await session.refusal(read, { file_path: path })).toMatch(message);
  });

  it('a name that may not be read is not suggested', async () => {
    const shy = toolSession(root, { isReadDenied: (path) => path.endsWith('Config.json') });
    expect(await shy.refusal(read, { file_path: 'config.jsn' })).not.toContain('Config.json');
  });

  it('pages of a file that is no PDF are refused', async () => {
    expect(await session.refusal(read, { file_path: 'a.txt', pages: '1' })).toContain('not a PDF');
  });

  it('a file swapped for a link after the gate is not followed', async () => {
    const located = [
      { spelled: join(root, 'a.txt'), real: join(root, 'dangling'), isInside: true, isSessionFile: false },
    ];
    const call = read.call(
      { file_path: 'a.txt' },
      toolUseContextIn(root, { located }),
      allowEverything,
      parentMessage,
      undefined,
    );
    await expect(call).rejects.toThrow('became a link');
  });
});

describe('what a read leaves behind', () => {
  it('is the hash, size and time of the whole file', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': numbered(10) });
    const session = toolSession(root);
    await session.run(read, { file_path: 'a.txt', offset: 3, limit: 1 });
    expect(session.context.readState.get(join(root, 'a.txt'))).toMatchObject({
      sizeBytes: 71,
      isPartial: true,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(session.context.version).toBe(2);
  });
});
