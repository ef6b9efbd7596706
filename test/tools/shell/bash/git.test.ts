/** Git in a repository that somebody else has set up: what the repository names does not run unasked. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, makeMarkingProgram, makeRepository } from '../../../helpers/git-repositories.ts';
import { shellToolsIn } from '../../../helpers/shell-tools.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { sessionContextIn } from '../../../helpers/tool-use-context.ts';

const SPELLINGS = [
  'git status',
  'git status -vv',
  'git diff',
  'git --no-pager diff',
  'git -P diff',
  'git --no-optional-locks diff',
  'git --literal-pathspecs diff HEAD~1',
  'git diff --stat',
  'git diff --submodule=diff HEAD',
  'git diff-files -p',
  'git diff-index -p HEAD',
  'git diff-tree -p HEAD',
  'git log -p',
  'git log -m -p',
  'git log -L 1,1:file',
  'git log --format=%G?',
  'git log --show-signature',
  'git show',
  'git show :file',
  'git show HEAD:file --textconv',
  'git whatchanged -p',
  'git reflog -p',
  'git reflog show -p',
  'git stash list -p',
  'git stash show -p',
  'git stash show',
  'git range-diff HEAD~1...HEAD',
  'git cherry -v HEAD~1',
  'git format-patch --stdout HEAD~1',
  'git blame file',
  'git annotate file',
  'git grep two',
  'git grep --textconv two',
  'git cat-file --textconv HEAD:file',
  'git cat-file --filters HEAD:file',
  'git cat-file -p HEAD:file',
  'git ls-files',
  'git ls-files -m',
  'git describe --all --dirty',
  'git submodule status',
  'git submodule summary',
  'git diff --ext-diff',
  'git diff --textconv',
  'timeout 5 git diff',
  'nice git diff',
  'env git diff',
  'command git diff',
  'time git diff',
  '/usr/bin/git diff',
  'echo file | xargs git diff --',
  'f() { git diff; }; f',
  'echo "$(git diff)"',
  'cat <(git diff)',
];

/** Settings that only a question stops, and settings that the environment overrides. */
const SETTINGS = [
  'filter.evil.clean',
  'filter.evil.process',
  'diff.external',
  'diff.evil.command',
  'diff.evil.textconv',
  'merge.evil.driver',
  'core.fsmonitor',
  'core.pager',
  'core.sshCommand',
  'core.alternateRefsCommand',
  'gpg.program',
  'alias.whatchanged',
];

describe('a repository whose settings name a program', () => {
  const root = temporaryFolder();
  const shell = shellToolsIn(root);
  const marker = join(root, 'ran');
  const program = makeMarkingProgram(join(temporaryFolder(), 'program'), marker);
  const repositories = temporaryFolder();

  /** Whether the command passes unasked, and if it does, whether the program ran. */
  async function outcome(command: string, cwd: string): Promise<string> {
    const session = sessionContextIn(cwd);
    const check = shell.bash.checkPermissions(shell.bash.inputSchema.parse({ command }), shell.context({ session }));
    if (!shell.bash.isReadOnly({ command }) || check.behavior === 'ask') return 'asked';
    rmSync(marker, { force: true });
    // A failure of git is as good as an answer: the marker tells.
    await shell.run({ command }, { session }).catch((error: unknown) => error);
    return existsSync(marker) ? `ran by "${command}"` : 'clean';
  }

  /** The same for every spelling, one after another: they share the marker. */
  async function outcomes(cwd: string): Promise<readonly string[]> {
    const found: string[] = [];
    for (const command of SPELLINGS) found.push(await outcome(command, cwd));
    return found;
  }

  it.each(SETTINGS)('does not run what %s names, however git is called', async (setting) => {
    const folder = makeRepository(join(repositories, setting));
    const more = { 'log.diffMerges': 'remerge', 'log.showSignature': 'true', 'diff.submodule': 'diff' };
    for (const [name, value] of Object.entries({ ...more, [setting]: program })) git(folder, 'config', name, value);
    expect((await outcomes(folder)).filter((text) => text.startsWith('ran'))).toEqual([]);
  });

  it('is read unasked where the environment overrides the settings', async () => {
    const folder = makeRepository(join(repositories, 'overridden'));
    for (const name of ['core.fsmonitor', 'core.pager', 'core.sshCommand', 'gpg.program'])
      git(folder, 'config', name, program);
    expect(await outcome('git status', folder)).toBe('clean');
    const { text } = await shell.run({ command: 'git diff' }, { session: sessionContextIn(folder) });
    expect(text).toContain('+three');
  });

  it('says which setting of which file would run what', () => {
    const folder = makeRepository(join(repositories, 'named'));
    git(folder, 'config', 'filter.evil.clean', './evil %f');
    const input = shell.bash.inputSchema.parse({ command: 'git status' });
    expect(shell.bash.checkPermissions(input, shell.context({ session: sessionContextIn(folder) }))).toEqual({
      behavior: 'ask',
      message: `git needs approval in this repository: filter.evil.clean in "${folder}/.git/config" would run "./evil %f"`,
    });
    const other = shell.bash.inputSchema.parse({ command: 'ls' });
    expect(shell.bash.checkPermissions(other, shell.context({ session: sessionContextIn(folder) }))).toEqual({
      behavior: 'allow',
    });
  });

  it('is asked about where it begins above the working directories, and says which folder to add', () => {
    const folder = makeRepository(join(repositories, 'above'));
    const cwd = join(folder, 'packages', 'one');
    mkdirSync(cwd, { recursive: true });
    const check = (command: string) =>
      shell.bash.checkPermissions(
        shell.bash.inputSchema.parse({ command }),
        shell.context({ session: sessionContextIn(cwd) }),
      );
    for (const command of ['git status', 'git show HEAD:../../file'])
      expect(check(command), command).toMatchObject({
        behavior: 'ask',
        message: expect.stringContaining(`Add "${folder}"`) as string,
      });
    expect(check('ls')).toEqual({ behavior: 'allow' });
  });

  it.each([
    ['git diff | head', 'head:*', false],
    ['git diff | head', 'git diff:*', true],
    ['git diff | head', 'git diff | head', true],
    ['touch x && git status', 'touch:*', false],
    ['touch x && ls', 'touch:*', true],
  ])('lets "%s" pass by the rule "%s": %s', (command, spec, isAllowed) => {
    const folder = join(repositories, 'ruled');
    if (!existsSync(folder)) git(makeRepository(folder), 'config', 'core.fsmonitor', program);
    git(folder, 'config', 'diff.external', program);
    const input = shell.bash.inputSchema.parse({ command });
    const matcher = shell.bash.preparePermissionMatcher(input, sessionContextIn(folder));
    expect(matcher.covers([spec]) !== undefined).toBe(isAllowed);
  });

  it('is asked about beside what acts also for settings that only the environment of reading overrides', () => {
    const folder = makeRepository(join(repositories, 'beside'));
    git(folder, 'config', 'core.fsmonitor', program);
    const matcher = (command: string) =>
      shell.bash.preparePermissionMatcher(shell.bash.inputSchema.parse({ command }), sessionContextIn(folder));
    expect(matcher('touch x && git status').covers(['touch:*'])).toBeUndefined();
    expect(matcher('git status | head').covers(['head:*'])).toEqual(['head:*']);
  });

  it('that lies without a work tree among the files of a clone is not used', async () => {
    const folder = makeRepository(join(repositories, 'outer'));
    const bare = join(folder, 'vendor', 'lib');
    mkdirSync(bare, { recursive: true });
    git(bare, 'init', '-q', '--bare');
    git(bare, 'config', 'core.bare', 'false');
    git(bare, 'config', 'core.worktree', '.');
    git(bare, 'config', 'core.fsmonitor', program);
    git(bare, 'config', 'filter.evil.clean', program);
    writeFileSync(join(bare, '.gitattributes'), '* filter=evil\n');
    rmSync(marker, { force: true });
    const session = sessionContextIn(folder, { cwd: bare });
    await shell.run({ command: 'git status' }, { session }).catch((error: unknown) => error);
    expect(existsSync(marker)).toBe(false);
    expect(await outcome('git status', bare)).toBe('asked');
  });

  it.each(['core.fsmonitor', 'filter.evil.clean', 'gpg.program'])(
    'does not run %s of a sub-module',
    async (setting) => {
      const origin = makeRepository(join(repositories, `origin of ${setting}`));
      const folder = makeRepository(join(repositories, `super of ${setting}`));
      git(folder, 'submodule', '--quiet', 'add', origin, 'lib');
      git(folder, 'commit', '-qm', 'lib');
      for (const command of ['git status', 'git diff', 'git submodule status'])
        expect(await outcome(command, folder)).toBe('clean');
      writeFileSync(join(folder, 'lib', 'file'), 'changed\n');
      git(join(folder, 'lib'), 'config', setting, program);
      expect((await outcomes(folder)).filter((text) => text !== 'asked')).toEqual([]);
    },
  );

  it('that lacks files fetches none, by whatever program', async () => {
    const origin = makeRepository(join(repositories, 'partial origin'));
    git(origin, 'config', 'uploadpack.allowFilter', 'true');
    const folder = join(repositories, 'partial');
    git(repositories, 'clone', '-q', '--no-checkout', '--filter=blob:none', `file://${origin}`, folder);
    git(folder, 'config', 'remote.origin.url', `ext::${program} %S`);
    git(folder, 'config', 'protocol.ext.allow', 'always');
    expect(await outcome('git log -p', folder)).toBe('clean');
    expect(await outcome('git show HEAD:file', folder)).toBe('clean');
  });
});
