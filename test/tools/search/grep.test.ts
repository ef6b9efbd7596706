import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { grepTool } from '../../../tools/search/grep/index.ts';
import { GREP_BOUNDS } from '../../../tools/search/grep/search.ts';
import { fileServices } from '../../helpers/file-services.ts';
import { processesWith, testProcessHost } from '../../helpers/process-host.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { toolSession, writeTree } from '../../helpers/tool-session.ts';
import { allowEverything, parentMessage, toolUseContextIn } from '../../helpers/tool-use-context.ts';

const processHost = testProcessHost();
const grep = grepTool({ ...fileServices(), processHost });

function workspace(): string {
  return writeTree(temporaryFolder(), {
    'a.txt': 'alpha\nbeta\ngamma\nAlpha again\n',
    'src/b.ts': 'const alpha = 1;\nalpha();\n',
    'src/odd: name.txt': 'alpha here\n',
    '.hidden/c.txt': 'alpha hidden\n',
    '.git/config': 'alpha in git\n',
    '.gitignore': 'ignored.txt\n',
    'ignored.txt': 'alpha ignored\n',
    'binary.bin': Buffer.from('alpha\0\x01\x02'),
  });
}

const sorted = (text: string) => text.split('\n').sort();

describe('searching', () => {
  const root = workspace();
  const search = (input: Record<string, unknown>) => toolSession(root).run(grep, input);

  it('lists files, newest first', async () => {
    for (const [index, path] of ['a.txt', 'src/b.ts', 'src/odd: name.txt', '.hidden/c.txt'].entries())
      utimesSync(join(root, path), 1_000 + index, 1_000 + index);
    expect(await search({ pattern: 'alpha' })).toBe('Found 4 files\n.hidden/c.txt\nsrc/odd: name.txt\nsrc/b.ts\na.txt');
  });

  it('shows matching lines with path and number', async () => {
    expect(sorted(await search({ pattern: 'alpha', output_mode: 'content' }))).toEqual(
      [
        '.hidden/c.txt:1:alpha hidden',
        'a.txt:1:alpha',
        'src/b.ts:1:const alpha = 1;',
        'src/b.ts:2:alpha();',
        'src/odd: name.txt:1:alpha here',
      ].sort(),
    );
  });

  it.each([
    [{ pattern: 'alpha', glob: '*.ts', output_mode: 'count' }, 'src/b.ts:2'],
    [{ pattern: 'alpha', type: 'ts' }, 'Found 1 file\nsrc/b.ts'],
    [
      { pattern: 'ALPHA', path: 'a.txt', '-i': true, output_mode: 'content', '-n': false },
      'a.txt:alpha\na.txt:Alpha again',
    ],
    [{ pattern: 'alph.', path: 'src/b.ts', '-o': true, output_mode: 'content' }, 'src/b.ts:1:alpha\nsrc/b.ts:2:alpha'],
    [{ pattern: 'beta', path: 'a.txt', '-C': 1, output_mode: 'content' }, 'a.txt-1-alpha\na.txt:2:beta\na.txt-3-gamma'],
    [{ pattern: 'beta', path: 'a.txt', '-A': 1, output_mode: 'content' }, 'a.txt:2:beta\na.txt-3-gamma'],
    [
      { pattern: 'alpha.*gam', path: 'a.txt', multiline: true, output_mode: 'content' },
      'a.txt:1:alpha\na.txt:2:beta\na.txt:3:gamma',
    ],
    [{ pattern: 'nowhere to be found' }, 'No files found'],
    [{ pattern: 'nowhere to be found', output_mode: 'content' }, 'No matches found'],
    [{ pattern: '--pre=sh' }, 'No files found'],
    [{ pattern: 'alpha', glob: '!**' }, 'No files found'],
    [{ pattern: 'alpha', path: join(root, 'src'), glob: '*.ts' }, 'Found 1 file\nsrc/b.ts'],
    [{ pattern: 'alpha', glob: '*.py, *.{js,ts}' }, 'Found 1 file\nsrc/b.ts'],
    [{ pattern: 'alpha', glob: '*.py *.ts' }, 'Found 1 file\nsrc/b.ts'],
    [{ pattern: 'alpha', glob: 'odd: n*.txt' }, 'Found 1 file\nsrc/odd: name.txt'],
    [
      { pattern: 'alpha', path: 'src/b.ts', output_mode: 'content', offset: 9 },
      'PARTIAL: there are 2, none after offset 9. Use a smaller offset',
    ],
    [{ pattern: 'beta', offset: 9 }, 'Found 1 file\nPARTIAL: there are 1, none after offset 9. Use a smaller offset'],
  ])('%j', async (input, expected) => {
    expect(await search(input)).toBe(expected);
  });

  it('goes on where the last page ended', async () => {
    const whole = await search({ pattern: 'alpha', output_mode: 'content', head_limit: 100 });
    const first = await search({ pattern: 'alpha', output_mode: 'content', head_limit: 2 });
    const second = await search({ pattern: 'alpha', output_mode: 'content', head_limit: 100, offset: 2 });
    expect(first).toContain('PARTIAL: lines 1-2 are shown and there are more. Go on with offset 2');
    expect([...first.split('\n').slice(0, 2), ...second.split('\n')].join('\n')).toBe(whole);
  });

  it('counts the files that a page leaves out', async () => {
    expect(await search({ pattern: 'alpha', head_limit: 1 })).toContain(
      'PARTIAL: 1-1 of 4 are shown. Go on with offset 1',
    );
  });

  it('cuts lines that are too long', async () => {
    const folder = writeTree(temporaryFolder(), { 'min.js': `needle${'x'.repeat(100_000)}` });
    const text = await toolSession(folder).run(grep, { pattern: 'needle', output_mode: 'content' });
    expect(text.length).toBeLessThan(700);
  });

  it('an expression that would freeze a backtracking engine is answered at once', async () => {
    const folder = writeTree(temporaryFolder(), { 'a.txt': `${'a'.repeat(1_000_000)}!` });
    expect(await toolSession(folder).run(grep, { pattern: '(a+)+$' })).toBe('No files found');
  });
});

describe('files that stay where they are', () => {
  // Whatever was changed long ago or just now counts as settled, or as changed during the search.
  const searches = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY].map((kernelClockLagMs) =>
    grepTool({ ...fileServices(), processHost }, { ...GREP_BOUNDS, kernelClockLagMs, openFiles: 3 }),
  );

  it.each([
    { output_mode: 'content' },
    { output_mode: 'content', head_limit: 3, offset: 1 },
    { output_mode: 'content', '-n': false, '-C': 1, path: 'src', head_limit: 2 },
    { output_mode: 'count' },
    { output_mode: 'files_with_matches' },
    { head_limit: 2, offset: 2 },
  ])('are found by name as by descriptor: %j', async (input) => {
    const root = workspace();
    const [byName, byDescriptor] = await Promise.all(
      searches.map((tool) => toolSession(root).run(tool, { pattern: 'alpha', ...input })),
    );
    expect(byDescriptor).toBe(byName);
  });
});

describe('what a search may not show', () => {
  it('is left out in every mode', async () => {
    const root = workspace();
    const session = toolSession(root, { isReadDenied: (path) => path === join(root, 'src/b.ts') });
    for (const output_mode of ['content', 'files_with_matches', 'count']) {
      const text = await session.run(grep, { pattern: 'alpha', output_mode });
      expect(text).not.toContain('b.ts');
      expect(text).toContain('a.txt');
    }
  });

  it('is asked about by its real and by its spelled path', async () => {
    const root = workspace();
    symlinkSync(join(root, 'src'), join(root, 'alias'));
    for (const denied of [join(root, 'src/b.ts'), join(root, 'alias/b.ts')]) {
      const session = toolSession(root, { isReadDenied: (path) => path === denied });
      expect(await session.run(grep, { pattern: 'alpha', path: 'alias' })).toBe('Found 1 file\nsrc/odd: name.txt');
    }
  });

  it('lies behind a link', async () => {
    const root = workspace();
    const outside = writeTree(temporaryFolder(), { 'secret.txt': 'alpha secret' });
    symlinkSync(outside, join(root, 'out'));
    expect(await toolSession(root).run(grep, { pattern: 'secret' })).toBe('No files found');
  });

  it('follows a binary file whose lines broke off', async () => {
    const root = writeTree(temporaryFolder(), {
      'a.bin': `alpha\n${'x'.repeat(200_000)}\n\0`,
      'b.txt': 'alpha secret',
    });
    const session = toolSession(root, { isReadDenied: (path) => path === join(root, 'b.txt') });
    const text = await session.run(grep, { pattern: 'alpha', output_mode: 'content' });
    expect(text).toMatch(/^a\.bin:1:alpha\na\.bin: [^\n]*binary file[^\n]*$/);
  });

  it('lies in the server’s own folders, but for the session’s', async () => {
    const root = writeTree(temporaryFolder(), {
      'data/token': 'alpha',
      'data/s1/spill.txt': 'alpha',
      'data/s2/spill.txt': 'alpha',
    });
    const tool = grepTool({ ...fileServices(), processHost, privateFolders: [join(root, 'data')] });
    const session = toolSession(root, { sessionFolder: join(root, 'data/s1') });
    expect(await session.run(tool, { pattern: 'alpha' })).toBe('Found 1 file\ndata/s1/spill.txt');
  });

  it('is a name with characters nobody can see, as it stands', async () => {
    const root = writeTree(temporaryFolder(), { 'a\u001b[2Jb\n.txt': 'alpha\n', 'plain.txt': 'alpha\n' });
    const session = toolSession(root);
    expect(sorted(await session.run(grep, { pattern: 'alpha', output_mode: 'content' }))).toContain(
      'a\\u{1b}[2Jb\\u{a}.txt:1:alpha',
    );
    expect(sorted(await session.run(grep, { pattern: 'alpha' }))).toContain('a\\u{1b}[2Jb\\u{a}.txt');
  });
});

describe('a search that cannot be made', () => {
  it.each([
    [{ pattern: '(' }, /regex parse error[^]*\nCorrect pattern/],
    [{ pattern: 'a(?=b)' }, /look-around[^\n]* not supported\nSearch with a simpler pattern/],
    [{ pattern: 'a\\nb' }, /not allowed in a regex\nSet multiline/],
    [{ pattern: 'a', glob: '[a' }, /error parsing glob[^]*\nCorrect glob/],
    [{ pattern: 'a', type: 'nosuchtype' }, /unrecognized file type: nosuchtype\nLeave type out and use glob/],
    [{ pattern: 'a', type: 'x --pre=sh' }, /type ripgrep knows/],
    [{ pattern: 'a', path: 'missing' }, /does not exist/],
    [{ pattern: 'a', path: '/proc' }, /kernel/],
  ])('%j is an error, never "no files"', async (input, message) => {
    expect(await toolSession(workspace()).refusal(grep, input)).toMatch(message);
  });

  it('says so when it takes too long', async () => {
    const root = writeTree(temporaryFolder(), { 'big.txt': 'x'.repeat(50_000_000) });
    const impatient = grepTool({ ...fileServices(), processHost }, { ...GREP_BOUNDS, timeMs: 1 });
    expect(await toolSession(root).refusal(impatient, { pattern: '(x{1,9}){9}y' })).toContain('ended after 1 ms');
  });

  it('ends with its call and leaves no process behind', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'many'));
    for (let index = 0; index < 50; index++) writeFileSync(join(root, `many/${index}`), 'needle\n'.repeat(20_000));
    const controller = new AbortController();
    const context = toolUseContextIn(root, { signal: controller.signal });
    const call = grep.call(
      { pattern: 'needle', output_mode: 'content', head_limit: 0 },
      context,
      allowEverything,
      parentMessage,
      () => undefined,
    );
    controller.abort();
    await expect(call).rejects.toThrow();
    expect(processesWith(`${processHost.ownerId}.`).length).toBeLessThanOrEqual(20);
  });
});
