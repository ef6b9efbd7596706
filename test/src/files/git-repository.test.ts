/** What the settings of a repository would make git run, found without running git. */
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repositoryDanger } from '../../../src/files/git-repository.ts';
import { git, makeRepository } from '../../helpers/git-repositories.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

let made = 0;
const base = temporaryFolder();

function repository(): string {
  return makeRepository(join(base, `repository-${(made += 1)}`));
}

/** The danger as seen by a session that works in `folder`, or below it. */
function danger(folder: string, start = folder): string | undefined {
  return repositoryDanger(start, [folder]);
}

describe('a repository without programs', () => {
  it('is no danger, nor is a folder without one', () => {
    expect(danger(repository())).toBeUndefined();
    expect(danger(temporaryFolder())).toBeUndefined();
  });

  it.each([
    ['core.editor', 'vi'],
    ['core.sshCommand', 'ssh -i key'],
    ['credential.helper', 'store'],
    ['core.hooksPath', '.husky'],
    ['core.fsmonitor', './watch'],
    ['merge.ours.driver', 'true'],
    ['alias.st', '!sh -c "git status"'],
    ['diff.evil.xfuncname', '^x'],
    ['blame.ignoreRevsFile', '.ignored'],
    ['core.worktree', '..'],
  ])('is no danger with %s', (name, value) => {
    const folder = repository();
    git(folder, 'config', name, value);
    expect(danger(folder)).toBeUndefined();
  });

  it('may be a work tree or a sub-module of another, also where only that one is inside', () => {
    const folder = repository();
    const workTree = `${folder}-beside`;
    git(folder, 'worktree', 'add', '-q', workTree);
    expect(danger(folder)).toBeUndefined();
    expect(danger(workTree)).toBeUndefined();
    const outer = repository();
    git(outer, 'submodule', '--quiet', 'add', folder, 'deep/lib');
    expect(danger(outer)).toBeUndefined();
    expect(danger(outer, join(outer, 'deep', 'lib'))).toBeUndefined();
    expect(danger(join(outer, 'deep', 'lib'))).toBeUndefined();
  });

  it('may be gone, as that of a work tree whose repository was removed', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, '.git'), 'gitdir: modules/gone\n');
    expect(danger(folder)).toBeUndefined();
    mkdirSync(join(folder, 'modules'));
    writeFileSync(join(folder, 'modules', 'gone'), '');
    expect(danger(folder)).toMatch(/modules\/gone/);
  });

  it('must begin inside the working directories', () => {
    const folder = repository();
    const below = join(folder, 'packages', 'one');
    mkdirSync(below, { recursive: true });
    expect(danger(below)).toContain(`Add "${folder}"`);
    expect(danger(folder, below)).toBeUndefined();
    expect(repositoryDanger(below, [below, folder])).toBeUndefined();
    git(folder, 'config', 'diff.evil.textconv', './evil');
    expect(danger(below)).toContain('diff.evil.textconv');
  });
});

describe('a repository that would take long to look at', () => {
  it('is a danger where its index names more sub-modules than are looked at', () => {
    const folder = repository();
    writeFileSync(join(folder, '.git', 'index'), indexOf(20_000));
    expect(danger(folder)).toContain('too many folders');
    const half = indexOf(1_200);
    writeFileSync(join(folder, '.git', 'index'), half);
    expect(danger(folder)).toBeUndefined();
    writeFileSync(join(folder, '.git', 'sharedindex.more'), half);
    expect(danger(folder)).toContain('sub-modules');
  });

  it('is a danger where its indexes are larger together than what is read', () => {
    const folder = repository();
    for (const name of ['index', 'sharedindex.other']) {
      writeFileSync(join(folder, '.git', name), indexOf(1));
      truncateSync(join(folder, '.git', name), 16 * 1_048_576);
    }
    expect(danger(folder)).toContain('bytes');
  });
});

/** An index of version 2 that names sub-modules. */
function indexOf(submodules: number): Buffer {
  const header = Buffer.from('DIRC\0\0\0\u0002\0\0\0\0', 'latin1');
  header.writeUInt32BE(submodules, 8);
  const entries = Array.from({ length: submodules }, (_, at) => {
    const name = `module-${at}`;
    const entry = Buffer.alloc((62 + name.length + 8) & ~7);
    entry.writeUInt32BE(0o160000, 24);
    entry.writeUInt16BE(name.length, 60);
    entry.write(name, 62);
    return entry;
  });
  return Buffer.concat([header, ...entries]);
}

describe('a setting that names a program', () => {
  it.each([
    'filter.evil.clean',
    'filter.a.b.smudge',
    'filter.evil.process',
    'diff.external',
    'diff.evil.command',
    'diff.evil.textconv',
    'merge.evil.driver',
    'hook.evil.command',
    'alias.whatchanged',
    'lfs.extension.evil.clean',
  ])('%s is named with its file', (name) => {
    const folder = repository();
    git(folder, 'config', name, './evil');
    expect(danger(folder)).toBe(`${name} in "${folder}/.git/config" would run "./evil"`);
    mkdirSync(join(folder, 'sub'));
    expect(danger(folder, join(folder, 'sub'))).toContain(name);
  });

  it('is found in a file that is included, by whatever condition and from whichever folder', () => {
    const folder = repository();
    writeFileSync(join(folder, 'evil.inc'), '[filter "evil"]\nclean = ./evil\n');
    writeFileSync(join(folder, 'more.inc'), '[includeIf "onbranch:**"]\npath = evil.inc\n');
    git(folder, 'config', 'includeIf.gitdir:/.path', '../more.inc');
    expect(danger(folder)).toBe(`filter.evil.clean in "${folder}/evil.inc" would run "./evil"`);
  });

  it('is found in the settings of one work tree', () => {
    const folder = repository();
    git(folder, 'config', 'extensions.worktreeConfig', 'true');
    git(folder, 'config', '--worktree', 'diff.external', './evil');
    expect(danger(folder)).toContain('config.worktree');
  });

  it('is found from a work tree in the repository it belongs to', () => {
    const folder = repository();
    const workTree = join(folder, 'beside');
    git(folder, 'worktree', 'add', '-q', workTree);
    git(folder, 'config', 'diff.external', './evil');
    expect(danger(workTree)).toBe(`diff.external in "${folder}/.git/config" would run "./evil"`);
  });

  it('is found in a sub-module, where the settings of the environment are gone', () => {
    const origin = repository();
    const folder = repository();
    git(folder, 'submodule', '--quiet', 'add', origin, 'lib');
    git(join(folder, 'lib'), 'config', 'core.fsmonitor', './evil');
    expect(danger(folder)).toBe(`core.fsmonitor in "${folder}/.git/modules/lib/config" would run "./evil"`);
  });

  it.each([['--index-version', '4'], ['--index-version', '3'], ['--split-index']])(
    'is found in a repository that an index of another kind lists (%s %s)',
    (...options) => {
      const folder = repository();
      const nested = makeRepository(join(folder, 'lib', 'nested'));
      git(nested, 'config', 'core.fsmonitor', './evil');
      git(folder, 'add', 'lib/nested');
      git(folder, 'update-index', ...options);
      expect(danger(folder)).toContain('lib/nested/.git/config');
      rmSync(nested, { recursive: true });
      expect(danger(folder)).toBeUndefined();
    },
  );

  it('may stand below a folder that a sparse index does not list, if that is there', () => {
    const folder = repository();
    mkdirSync(join(folder, 'left', 'out'), { recursive: true });
    writeFileSync(join(folder, 'left', 'out', 'file'), '');
    git(folder, 'add', 'left');
    git(folder, 'commit', '-qm', 'left', 'left');
    git(folder, 'stash', '-q');
    git(folder, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'in');
    expect(danger(folder)).toBeUndefined();
    mkdirSync(join(folder, 'left'));
    expect(danger(folder)).toContain('sub-modules');
  });

  it('is found below a repository with longer ids', () => {
    const folder = join(base, 'sha256');
    mkdirSync(folder);
    git(folder, 'init', '-q', '--object-format=sha256');
    writeFileSync(join(folder, 'file'), '');
    git(folder, 'add', '.');
    expect(danger(folder)).toBeUndefined();
    git(folder, 'config', 'diff.external', './evil');
    expect(danger(folder)).toContain('diff.external');
  });
});

describe('a repository that cannot be judged', () => {
  it.each([
    ['settings that git cannot parse', (folder: string) => appendFileSync(join(folder, '.git', 'config'), '[x')],
    ['an include only git can find', (folder: string) => git(folder, 'config', 'include.path', '%(prefix)/x')],
    ['includes that never end', (folder: string) => git(folder, 'config', 'include.path', 'config')],
    [
      'an index that is cut short',
      (folder: string) => writeFileSync(join(folder, '.git', 'index'), 'DIRC\0\0\0\x02\0\0\0\x09'),
    ],
    [
      'settings that are a folder',
      (folder: string) => {
        rmSync(join(folder, '.git', 'config'));
        mkdirSync(join(folder, '.git', 'config'));
      },
    ],
    [
      'a ".git" file that names nothing',
      (folder: string) => {
        rmSync(join(folder, '.git'), { recursive: true });
        writeFileSync(join(folder, '.git'), 'nothing');
      },
    ],
  ])('is a danger: %s', (_title, spoil) => {
    const folder = repository();
    spoil(folder);
    expect(danger(folder)).toMatch(/^cannot /);
  });
});

describe('a repository elsewhere', () => {
  const outside = makeRepository(join(temporaryFolder(), 'outside'));

  it.each([
    ['a ".git" file', (folder: string) => writeFileSync(join(folder, '.git'), `gitdir: ${outside}/.git\n`)],
    ['a ".git" link', (folder: string) => symlinkSync(join(outside, '.git'), join(folder, '.git'))],
    [
      'a "commondir"',
      (folder: string) => {
        mkdirSync(join(folder, '.git'));
        writeFileSync(join(folder, '.git', 'commondir'), `${outside}/.git\n`);
        writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
      },
    ],
    [
      'a "core.worktree"',
      (folder: string) => {
        git(folder, 'init', '-q');
        git(folder, 'config', 'core.worktree', outside);
      },
    ],
    [
      'a link to the objects',
      (folder: string) => {
        git(folder, 'init', '-q');
        rmSync(join(folder, '.git', 'objects'), { recursive: true });
        symlinkSync(join(outside, '.git', 'objects'), join(folder, '.git', 'objects'));
      },
    ],
    [
      'an include',
      (folder: string) => {
        git(folder, 'init', '-q');
        git(folder, 'config', 'include.path', join(outside, '.git', 'config'));
      },
    ],
    [
      'a file whose lines are shown',
      (folder: string) => {
        git(folder, 'init', '-q');
        git(folder, 'config', 'blame.ignoreRevsFile', '/etc/passwd');
      },
    ],
  ])('is a danger where %s leads there', (_title, lead) => {
    const folder = temporaryFolder();
    lead(folder);
    expect(danger(folder)).toContain('outside the working directories');
    expect(repositoryDanger(folder, [folder, outside, '/etc'])).toBeUndefined();
  });

  it('is a danger where a work tree that belongs to somebody else is named', () => {
    const other = `${outside}-beside`;
    git(outside, 'worktree', 'add', '-q', other);
    const folder = temporaryFolder();
    renameSync(join(other, '.git'), join(folder, '.git'));
    expect(danger(folder)).toContain('outside the working directories');
  });
});

describe('a repository without a work tree', () => {
  it('is a danger where it lies among the files of another', () => {
    const folder = repository();
    const bare = join(folder, 'vendor', 'lib');
    mkdirSync(bare, { recursive: true });
    git(bare, 'init', '-q', '--bare');
    expect(danger(folder, bare)).toContain(`"${bare}" is laid out as a repository without a work tree`);
    expect(danger(folder, join(bare, 'refs'))).toContain('without a work tree');
    expect(danger(folder)).toBeUndefined();
  });

  it('does not hide behind a ".git" that git would not take', () => {
    const folder = repository();
    git(folder, 'config', 'diff.external', './evil');
    const inner = join(folder, 'inner');
    mkdirSync(join(inner, '.git', 'objects'), { recursive: true });
    writeFileSync(join(inner, '.git', 'HEAD'), 'nothing');
    expect(danger(folder, inner)).toContain('diff.external');
  });
});
