import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { globTool } from '../../../tools/search/glob/index.ts';
import { fileServices } from '../../helpers/file-services.ts';
import { testProcessHost } from '../../helpers/process-host.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { toolSession, writeTree } from '../../helpers/tool-session.ts';

const processHost = testProcessHost();
const glob = globTool({ ...fileServices(), processHost });
const sorted = (text: string) => text.split('\n').sort();

describe('finding files', () => {
  it('lists matches, newest first', async () => {
    const root = writeTree(temporaryFolder(), { 'old.ts': '', 'new.ts': '', 'src/middle.ts': '', 'other.js': '' });
    for (const [index, path] of ['old.ts', 'src/middle.ts', 'new.ts'].entries())
      utimesSync(join(root, path), 1_000 + index, 1_000 + index);
    expect(await toolSession(root).run(glob, { pattern: '**/*.ts' })).toBe('new.ts\nsrc/middle.ts\nold.ts');
  });

  it('shows a hundred and says how many more there are', async () => {
    const root = temporaryFolder();
    for (let index = 0; index < 130; index++) writeFileSync(join(root, `file${index}.txt`), '');
    const text = await toolSession(root).run(glob, { pattern: '*' });
    expect(text.split('\n')).toHaveLength(101);
    expect(text).toContain('30 more files match');
  });

  it('passes over what ignore files name, folder by folder', async () => {
    const root = writeTree(temporaryFolder(), {
      '.gitignore': 'node_modules\n*.log\n/dist\n!keep.log\n',
      'node_modules/m/index.js': '', 'dist/out.js': '', 'src/dist/kept.js': '', 'x.log': '', 'keep.log': '',
      'src/.gitignore': 'secret.js\n', 'src/secret.js': '', 'secret.js': '', '.env': '', '.git/config': '',
    }); // prettier-ignore
    expect(sorted(await toolSession(root).run(glob, { pattern: '**' }))).toEqual(
      ['.env', '.gitignore', 'keep.log', 'secret.js', 'src/.gitignore', 'src/dist/kept.js'].sort(),
    );
  });

  it('obeys the ignore files of the repository above', async () => {
    const root = writeTree(temporaryFolder(), {
      '.gitignore': '/src/made\n',
      '.git/HEAD': '',
      'src/made/a.js': '',
      'src/b.js': '',
    });
    expect(await toolSession(root).run(glob, { pattern: '**/*.js', path: 'src' })).toBe('src/b.js');
    expect(await toolSession(root).run(glob, { pattern: '*.js', path: 'src/made' })).toBe('src/made/a.js');
  });

  it('a hostile ignore file does not hold it up', async () => {
    const root = writeTree(temporaryFolder(), { '.gitignore': `${'*a'.repeat(30)}b\n`, ['a'.repeat(200)]: '' });
    expect(await toolSession(root).run(glob, { pattern: 'a*' })).toBe('a'.repeat(200));
  });

  it('says when nothing matches', async () => {
    expect(await toolSession(temporaryFolder()).run(glob, { pattern: '*.nothing' })).toBe('No files found');
  });

  it.each([
    ['*.@(ts|js)', 'No files found\n(Extended globs such as "@(a|b)" are not known here: write "{a,b}")'],
    ['!*.ts', 'No files found\n("!" excludes nothing here: say which files to find)'],
  ])('says of %s that other matchers read it in another way', async (pattern, expected) => {
    const root = writeTree(temporaryFolder(), { 'a.ts': '' });
    expect(await toolSession(root).run(glob, { pattern })).toBe(expected);
  });

  it('never follows links', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': '' });
    const outside = writeTree(temporaryFolder(), { 'secret.txt': '' });
    symlinkSync(outside, join(root, 'out'));
    symlinkSync(root, join(root, 'again'));
    symlinkSync(join(outside, 'secret.txt'), join(root, 'link.txt'));
    expect(await toolSession(root).run(glob, { pattern: '**/*.txt' })).toBe('a.txt');
  });

  it('does not tell of what may not be read', async () => {
    const root = writeTree(temporaryFolder(), { 'a.txt': '', 'secret/b.txt': '', '.env': '' });
    const session = toolSession(root, {
      isReadDenied: (path) => path.startsWith(join(root, 'secret')) || path.endsWith('.env'),
    });
    expect(await session.run(glob, { pattern: '**' })).toBe('a.txt');
  });

  it('does not tell of the server’s own folders, but for the session’s', async () => {
    const root = writeTree(temporaryFolder(), { 'data/token': '', 'data/s1/spill.txt': '', 'a.txt': '' });
    const tool = globTool({ ...fileServices(), processHost, privateFolders: [join(root, 'data')] });
    const session = toolSession(root, { sessionFolder: join(root, 'data/s1') });
    expect(await session.run(tool, { pattern: '**' })).toBe('a.txt');
    expect(await session.run(tool, { pattern: '*', path: 'data/s1' })).toBe('data/s1/spill.txt');
  });

  it('gives up after so many names and says so', async () => {
    const root = temporaryFolder();
    for (let index = 0; index < 40; index++) {
      mkdirSync(join(root, `folder${index}`));
      writeFileSync(join(root, `folder${index}/a.txt`), '');
    }
    const small = globTool({ ...fileServices(), processHost }, 10);
    expect(await toolSession(root).run(small, { pattern: '**/*.txt' })).toContain('given up');
  });
});

describe('where a pattern leads', () => {
  it.each([
    [{ pattern: '../**' }, ['./..']],
    [{ pattern: '/etc/**' }, ['/etc']],
    [{ pattern: '/etc/**', path: 'src' }, ['/etc']],
    [{ pattern: '{../,}**' }, ['./..', '.']],
    [{ pattern: 'src/../../**' }, ['./src/../..']],
    [{ pattern: '~/**' }, ['~']],
    [{ pattern: '*.ts', path: 'src' }, ['src']],
    [{ pattern: 'lib/*.ts', path: 'src' }, ['src/lib']],
  ])('%j is judged as %j', (input, paths) => {
    expect(glob.paths?.(input).map((use) => use.path)).toEqual(paths);
  });

  it.each([
    [{ pattern: '*/../../etc/*' }, /".." cannot follow/],
    [{ pattern: '{1..100000}' }, /more than 1000 patterns/],
    [{ pattern: '*', path: 'missing' }, /it does not exist/],
    [{ pattern: '*', path: '/proc' }, /kernel/],
  ])('%j is refused', async (input, message) => {
    expect(await toolSession(temporaryFolder()).refusal(glob, input)).toMatch(message);
  });
});
