/** EnterWorktree and ExitWorktree on repositories of the real git. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import type { SessionContext } from '../../../src/tool/session-context.ts';
import { enterWorktreeTool } from '../../../tools/workspace/enter-worktree.ts';
import { exitWorktreeTool } from '../../../tools/workspace/exit-worktree.ts';
import { fileServices } from '../../helpers/file-services.ts';
import { git, makeMarkingProgram, makeRepository } from '../../helpers/git-repositories.ts';
import { testProcessHost } from '../../helpers/process-host.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { sessionContextIn, toolUseContextIn } from '../../helpers/tool-use-context.ts';
import { toolSession } from '../../helpers/tool-session.ts';

const base = temporaryFolder();
const services = { ...fileServices(), processHost: testProcessHost(DEFAULT_LIMITS), hasGit: true };
const enter = enterWorktreeTool(services);
const exit = exitWorktreeTool(services);
let made = 0;

/** A repository whose work tree is clean. */
function repository(): string {
  const folder = makeRepository(join(base, `repository-${(made += 1)}`));
  git(folder, 'checkout', '-q', '--', 'file');
  return folder;
}

/** A session in a worktree of a fresh repository. */
async function entered(name = 'try') {
  const top = repository();
  const session = toolSession(top);
  await session.run(enter, { name });
  return { top, session, path: join(top, '.worktrees', name) };
}

const branches = (top: string) => git(top, 'branch', '--format=%(refname:short)').trim().split('\n');
const worktreeCount = (top: string) => git(top, 'worktree', 'list').trim().split('\n').length;

describe('EnterWorktree', () => {
  it('moves the session into a worktree at the current commit, which git ignores', async () => {
    const top = repository();
    writeFileSync(join(top, 'file'), 'not committed\n');
    const session = toolSession(top);
    const text = await session.run(enter, { name: 'fix-1' });
    const path = join(top, '.worktrees', 'fix-1');
    expect(text).toContain(path);
    expect(session.context).toMatchObject({
      root: top,
      cwd: path,
      worktree: { path, branch: 'worktree-fix-1', originalCwd: top },
    });
    expect(readFileSync(join(path, 'file'), 'utf8')).toBe('two\n');
    expect(git(path, 'rev-parse', 'HEAD', '--abbrev-ref', 'HEAD')).toContain('worktree-fix-1');
    expect(git(top, 'status', '--porcelain')).toBe(' M file\n');
  });

  it('makes up a name where none is given, and a second worktree beside the first', async () => {
    const { top, session } = await entered();
    await session.run(exit, { action: 'keep' });
    await session.run(enter, {});
    expect(session.context.worktree?.path).toMatch(/\/\.worktrees\/work-[0-9a-f]{8}$/);
    expect(worktreeCount(top)).toBe(3);
  });

  it('works from a folder of the repository below its top', async () => {
    const top = repository();
    mkdirSync(join(top, 'deep'));
    const context = toolUseContextIn(top, { session: sessionContextIn(top, { cwd: join(top, 'deep') }) });
    const { data } = await enter.call({ name: 'deep' }, context);
    expect(data).toMatchObject({ path: join(top, '.worktrees', 'deep'), originalCwd: join(top, 'deep') });
  });

  it.each(['', '.', '..', '../out', 'a/b', '/tmp/x', '-f', '--force', 'a..b', 'x.lock', 'x.', 'a b', 'a\nb', 'é', '~'])(
    'refuses the name %j',
    (name) => {
      expect(enter.inputSchema.safeParse({ name }).success).toBe(false);
    },
  );

  it('refuses a folder without a repository, and one without a commit', async () => {
    const bare = temporaryFolder();
    expect(await toolSession(bare).refusal(enter, {})).toContain('is in no git repository');
    git(bare, 'init', '-q');
    expect(await toolSession(bare).refusal(enter, {})).toContain('no commit yet');
    expect(existsSync(join(bare, '.worktrees'))).toBe(false);
  });

  it('refuses a repository that begins above the session', async () => {
    const top = repository();
    const below = join(top, 'below');
    mkdirSync(below);
    expect(await toolSession(below).refusal(enter, {})).toContain('begins above the working directories');
  });

  it('refuses a second one, a name that is taken, and a branch that is taken', async () => {
    const { top, session } = await entered('twice');
    expect(await session.refusal(enter, {})).toContain('Leave it first');
    expect(await toolSession(top).refusal(enter, { name: 'twice' })).toContain('is there already');
    git(top, 'branch', 'worktree-other');
    expect(await toolSession(top).refusal(enter, { name: 'other' })).toContain('a branch "worktree-other" already');
    expect(worktreeCount(top)).toBe(2);
  });

  it('makes nothing where its folder is a link that leads out', async () => {
    const [top, outside] = [repository(), temporaryFolder()];
    symlinkSync(outside, join(top, '.worktrees'));
    expect(await toolSession(top).refusal(enter, { name: 'out' })).toMatch(/outside|leads elsewhere/);
    expect(existsSync(join(outside, 'out'))).toBe(false);
  });

  it('makes nothing where a rule denies changes', async () => {
    const top = repository();
    const plain = sessionContextIn(top);
    const rules = { session: { allow: [], ask: [], deny: ['Edit(.worktrees/**)'] } };
    const session = { ...plain, permissions: { ...plain.permissions, rules } } as SessionContext;
    await expect(enter.call({ name: 'no' }, toolUseContextIn(top, { session }))).rejects.toThrow('a rule denies');
    expect(existsSync(join(top, '.worktrees'))).toBe(false);
  });

  it('leaves nothing behind when the checkout fails', async () => {
    const top = repository();
    const blob = git(top, 'rev-parse', 'HEAD:file').trim();
    rmSync(join(top, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
    expect(await toolSession(top).refusal(enter, { name: 'broken' })).toContain('Cannot make a worktree');
    expect(existsSync(join(top, '.worktrees', 'broken'))).toBe(false);
    expect(branches(top)).not.toContain('worktree-broken');
    expect(worktreeCount(top)).toBe(1);
  });

  it.each([
    [
      'a hook in its place',
      (top: string, program: string) => symlinkSync(program, join(top, '.git/hooks/post-checkout')),
    ],
    [
      'a hook by core.hooksPath',
      (top: string, program: string) => {
        mkdirSync(join(top, '.git', 'own'));
        symlinkSync(program, join(top, '.git', 'own', 'post-checkout'));
        git(top, 'config', 'core.hooksPath', '.git/own');
      },
    ],
    ['a file watcher', (top: string, program: string) => git(top, 'config', 'core.fsmonitor', program)],
  ])('runs no program of the repository: %s', async (_title, arm) => {
    const top = repository();
    const marker = `${top}-marker`;
    arm(top, makeMarkingProgram(`${top}-program`, marker));
    const session = toolSession(top);
    await session.run(enter, { name: 'armed' });
    await session.run(exit, { action: 'remove' });
    expect(existsSync(marker)).toBe(false);
  });

  it.each(['smudge', 'process'])('refuses a repository whose filter has a %s program', async (kind) => {
    const top = repository();
    const marker = `${top}-marker`;
    git(top, 'config', `filter.evil.${kind}`, makeMarkingProgram(`${top}-program`, marker));
    expect(await toolSession(top).refusal(enter, {})).toContain(`filter.evil.${kind}`);
    expect(existsSync(marker)).toBe(false);
    expect(worktreeCount(top)).toBe(1);
  });
});

describe('ExitWorktree', () => {
  it('keeps the worktree, and the session returns', async () => {
    const { top, session, path } = await entered();
    writeFileSync(join(path, 'new'), '');
    expect(await session.run(exit, { action: 'keep' })).toContain('are kept');
    expect(session.context).toMatchObject({ cwd: top, toolState: {} });
    expect(session.context.worktree).toBeUndefined();
    expect(existsSync(join(path, 'new'))).toBe(true);
    expect(branches(top)).toContain('worktree-try');
  });

  it('removes a worktree that holds nothing new, with its branch', async () => {
    const { top, session, path } = await entered();
    expect(await session.run(exit, { action: 'remove' })).toContain('are removed');
    expect(existsSync(path)).toBe(false);
    expect(branches(top)).toEqual(['main']);
    expect(session.context.cwd).toBe(top);
  });

  it.each<[string, (path: string) => unknown, string]>([
    ['a changed file', (path) => appendFileSync(join(path, 'file'), 'more\n'), 'changed files: file'],
    ['a deleted file', (path) => rmSync(join(path, 'file')), 'changed files: file'],
    ['an untracked file', (path) => writeFileSync(join(path, 'new'), ''), 'untracked files: new'],
    [
      'an untracked file where settings hide those',
      (path) => {
        git(path, 'config', 'status.showUntrackedFiles', 'no');
        writeFileSync(join(path, 'new'), '');
      },
      'untracked files: new',
    ],
    [
      'a staged file',
      (path) => {
        writeFileSync(join(path, 'new'), '');
        git(path, 'add', 'new');
      },
      'changed files: new',
    ],
    [
      'an ignored file',
      (path) => {
        writeFileSync(join(path, 'ignored.env'), '');
        appendFileSync(join(path, '../../.git/info/exclude'), '*.env\n');
      },
      'files that git ignores: ignored.env',
    ],
    [
      'a change that git was told not to see',
      (path) => {
        git(path, 'update-index', '--assume-unchanged', 'file');
        appendFileSync(join(path, 'file'), 'more\n');
      },
      'told not to see: file',
    ],
    [
      'a commit',
      (path) => git(path, 'commit', '-q', '--allow-empty', '-m', 'my work'),
      'commits that are on no other branch: ',
    ],
    [
      'a commit on no branch',
      (path) => {
        git(path, 'checkout', '-q', '--detach');
        git(path, 'commit', '-q', '--allow-empty', '-m', 'my work');
      },
      'commits that are on no other branch: ',
    ],
    [
      'a commit that its branch alone has while another is checked out',
      (path) => {
        git(path, 'commit', '-q', '--allow-empty', '-m', 'my work');
        git(path, 'checkout', '-q', '-b', 'other', 'HEAD~1');
      },
      'my work',
    ],
    ['an unfinished bisection', (path) => git(path, 'bisect', 'start'), 'unfinished: a bisect'],
  ])('removes nothing while there is %s, unless told to discard it', async (_title, change, loss) => {
    const { top, session, path } = await entered();
    await change(path);
    const before = git(path, 'status', '--porcelain', '-uall', '--ignored');
    const message = await session.refusal(exit, { action: 'remove' });
    expect(message).toContain('this would be lost');
    expect(message).toContain(loss);
    expect(session.context.cwd).toBe(path);
    expect(git(path, 'status', '--porcelain', '-uall', '--ignored')).toBe(before);
    expect(branches(top)).toContain('worktree-try');

    expect(await session.run(exit, { action: 'remove', discard_changes: true })).toContain('Thrown away with it');
    expect(existsSync(path)).toBe(false);
    expect(branches(top)).not.toContain('worktree-try');
    expect(session.context.cwd).toBe(top);
  });

  it('loses no commit that another branch has: one that was merged is removed', async () => {
    const { top, session, path } = await entered();
    writeFileSync(join(path, 'new'), '');
    git(path, 'add', 'new');
    git(path, 'commit', '-qm', 'my work');
    git(top, 'merge', '-q', 'worktree-try');
    expect(await session.run(exit, { action: 'remove' })).toContain('are removed');
    expect(existsSync(join(top, 'new'))).toBe(true);
  });

  it('returns from a worktree that somebody else removed, and tells of commits that are left', async () => {
    const { top, session, path } = await entered();
    git(path, 'commit', '-q', '--allow-empty', '-m', 'my work');
    rmSync(path, { recursive: true });
    expect(await session.refusal(exit, { action: 'remove' })).toContain('my work');
    expect(await session.run(exit, { action: 'remove', discard_changes: true })).toContain('are removed');
    expect(worktreeCount(top)).toBe(1);
    expect(branches(top)).toEqual(['main']);
  });

  it('runs no program that was armed while the session was in the worktree', async () => {
    const { top, session, path } = await entered();
    const marker = `${top}-marker`;
    const program = makeMarkingProgram(`${top}-program`, marker);
    const evil = makeRepository(join(base, `evil-${(made += 1)}`));
    git(evil, 'config', 'filter.evil.clean', program);
    appendFileSync(join(path, 'file'), 'more\n');
    writeFileSync(join(path, '.git'), `gitdir: ${join(evil, '.git')}\n`);
    expect(await session.refusal(exit, { action: 'remove' })).toContain('git is not safe to run here');
    git(top, 'config', 'filter.evil.clean', program);
    expect(await session.refusal(exit, { action: 'remove', discard_changes: true })).toContain('not safe');
    expect(existsSync(marker)).toBe(false);
    expect(existsSync(join(path, 'file'))).toBe(true);
  });

  it('refuses without a worktree, one of an agent, and to discard what it keeps', async () => {
    const top = repository();
    expect(await toolSession(top).refusal(exit, { action: 'keep' })).toContain('EnterWorktree makes one');
    const worktree = { path: join(top, '.worktrees', 'a'), branch: 'b', originalCwd: top };
    const session = sessionContextIn(top, { worktree });
    expect(await toolSession(top, { session }).refusal(exit, { action: 'keep' })).toContain('made for this agent');
    const { session: inside } = await entered();
    const refusal = await inside.refusal(exit, { action: 'keep', discard_changes: true });
    expect(refusal).toContain('leave it out');
  });
});
