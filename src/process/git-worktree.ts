/**
 * Makes and removes git worktrees, and finds what a removal would lose.
 *
 * No program that the repository names runs: settings that git could be kept from obeying are overridden, and a
 * repository with others is refused.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { cutText } from '../base/cut-text.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { showText } from '../base/hidden-characters.ts';
import { QUIET_GIT_ENVIRONMENT } from '../files/git-environment.ts';
import { repositoryDanger } from '../files/git-repository.ts';
import { errorCode } from '../files/real-path.ts';
import { realFolder } from '../files/working-directories.ts';
import { writeDenial } from '../permissions/path-gate.ts';
import type { LocatePath } from '../tool/located-path.ts';
import { type SessionContext, type Worktree, WORKTREES_FOLDER } from '../tool/session-context.ts';
import type { ToolUseContext } from '../tool/tool.ts';
import type { ProcessHost } from './process-host.ts';
import { runProgram } from './run-program.ts';

/** Time of one run of git: a checkout of a large repository takes a minute or two. */
const GIT_MS = 5 * 60_000;

/** Output of one run: the status of a worktree with many thousand new files. */
const GIT_OUTPUT_BYTES = 8 * 1_048_576;

/** Characters of a message of git that are passed on. */
const MESSAGE_CHARS = 600;

/** Entries of one kind that a loss lists by name. */
const LISTED_ENTRIES = 20;

/** Files in git's folder of a worktree while something has begun there and has not ended. */
const UNFINISHED: Readonly<Record<string, string>> = {
  'rebase-merge': 'a rebase',
  'rebase-apply': 'a rebase',
  MERGE_HEAD: 'a merge',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  REVERT_HEAD: 'a revert',
  BISECT_LOG: 'a bisect',
};

/** Dependencies of worktrees. */
export interface WorktreeServices {
  /** True if there is a git to run. */
  readonly hasGit: boolean;
  readonly processHost: ProcessHost;
  readonly locate: LocatePath;
}

/** The part of a call that git works for. */
export type WorktreeCall = Pick<ToolUseContext, 'session' | 'sessionFolder' | 'signal'>;

/**
 * Make a worktree on a new branch, at the commit that the session's folder is at.
 *
 * It lies in `.worktrees/` at the top of the main work tree: inside what the session may write, and ignored by git.
 *
 * @throws {GauntletError} `tool_failed`, saying what to do; nothing stays behind then.
 */
export async function makeWorktree(services: WorktreeServices, call: WorktreeCall, name: string): Promise<Worktree> {
  const { cwd } = call.session;
  refuseDanger('make a worktree', cwd, call.session);
  const git = runner(services, call);
  const inside = await git(cwd, ['rev-parse', '--is-inside-work-tree']);
  if (inside.stdout.trim() !== 'true')
    throw failed(`Cannot make a worktree: "${showText(cwd)}" is in no git repository. Begin one with "git init"`);
  const start = (await git(cwd, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).stdout.trim();
  if (start === '') throw failed('Cannot make a worktree: the repository has no commit yet. Commit something first');
  const path = await preparePlace(services, call, await mainFolder(git, cwd), name);
  const branch = branchOf(name);
  const taken = await git(cwd, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`]);
  if (taken.code === 0) throw failed(`Cannot make a worktree: there is a branch "${branch}" already. Use another name`);
  const worktree = { path, branch, originalCwd: cwd };
  try {
    orFail(await git(cwd, ['worktree', 'add', '--quiet', '--no-track', '-b', branch, path, start]), 'make a worktree');
    if (realFolder(path) !== path) throw failed(`Cannot make a worktree: "${showText(path)}" was moved meanwhile`);
    return worktree;
  } catch (error) {
    await clearAway(services, call, worktree, start);
    throw error;
  }
}

/** The branch of a worktree that is made under a name. */
function branchOf(name: string): string {
  return `worktree-${name}`;
}

/** Remove what a worktree that was not made left: also where the call was cancelled. */
async function clearAway(
  services: WorktreeServices,
  call: WorktreeCall,
  { path, branch, originalCwd }: Worktree,
  start: string,
): Promise<void> {
  const git = runner(services, { ...call, signal: AbortSignal.timeout(GIT_MS) });
  try {
    await git(originalCwd, ['worktree', 'remove', '--force', '--force', path]);
    await git(originalCwd, ['worktree', 'prune']);
    await git(originalCwd, ['update-ref', '-d', `refs/heads/${branch}`, start]);
  } catch (error) {
    throw failed(`Cannot clear away the worktree "${showText(path)}": ${errorMessage(error)}. Remove it by hand`);
  }
}

/** Make the folder of all worktrees, ignored by git. @returns The absolute path for the one of this name. */
async function preparePlace(
  { locate }: WorktreeServices,
  call: WorktreeCall,
  main: string,
  name: string,
): Promise<string> {
  const folder = join(main, WORKTREES_FOLDER);
  const path = join(folder, name);
  const { session } = call;
  const located = await locate({ path, access: 'write' }, call);
  const refusal = located.refusal ?? (located.safety && `"${showText(path)}": ${located.safety}`);
  if (refusal !== undefined) throw failed(`Cannot make a worktree: ${refusal}`);
  const isDenied = writeDenial(session.permissions, session.root);
  if (isDenied(path)) throw failed(`Cannot make a worktree: a rule denies changes of "${showText(path)}"`);
  if (!located.isInside)
    throw failed(
      `Cannot make a worktree: "${showText(main)}" is outside the working directories. Begin a session there`,
    );
  if (located.real !== path)
    throw failed(`Cannot make a worktree: "${showText(folder)}" leads elsewhere. Remove this link`);
  if (existsSync(path)) throw failed(`Cannot make a worktree: "${showText(path)}" is there already. Use another name`);
  await mkdir(folder, { recursive: true });
  // Ignores itself too, so that nothing shows in the status of the repository. With "*" alone a search in a worktree
  // would take all its files for ignored.
  await writeFile(join(folder, '.gitignore'), '/*\n', { flag: 'wx' }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
  return path;
}

/** Return the top of the main work tree, whichever of its worktrees `cwd` is in. */
async function mainFolder(git: Git, cwd: string): Promise<string> {
  const { stdout } = orFail(await git(cwd, ['worktree', 'list', '--porcelain']), 'list the worktrees');
  const main = /^worktree (.+)$/m.exec(stdout)?.[1];
  const isBare = /^worktree .+\nbare$/m.test(stdout.split('\n\n')[0] ?? '');
  if (main === undefined || isBare || realFolder(main) !== main)
    throw failed('Cannot make a worktree: its repository has no work tree of its own. Use a clone that has one');
  return main;
}

/**
 * List what a removal would lose, a line for each kind: files that no commit has, ignored ones too, and commits that no
 * other branch, remote branch or tag has.
 *
 * @returns Empty if nothing would be lost.
 * @throws {GauntletError} `tool_failed` if that cannot be known.
 */
export async function worktreeLosses(
  services: WorktreeServices,
  call: WorktreeCall,
  { path, branch }: Pick<Worktree, 'path' | 'branch'>,
): Promise<readonly string[]> {
  const git = runner(services, call);
  const isThere = realFolder(path) === path;
  const from = isThere ? path : mainOf(path);
  refuseDanger('look at the worktree', from, call.session);
  const files = isThere ? await fileLosses(git, path) : [];
  const heads = [`refs/heads/${branch}`, ...(isThere ? ['HEAD'] : [])];
  const tips = [];
  for (const head of heads) {
    const { stdout } = await git(from, ['rev-parse', '--verify', '--quiet', `${head}^{commit}`]);
    if (stdout.trim() !== '') tips.push(stdout.trim());
  }
  if (tips.length === 0) return files;
  const elsewhere = ['--not', `--exclude=${branch}`, '--branches', '--remotes', '--tags'];
  const commits = await git(from, ['log', '--no-decorate', '--format=%h %s', ...tips, ...elsewhere]);
  const { stdout } = orFail(commits, 'list the commits of the worktree');
  return [...files, ...listed('commits that are on no other branch', linesOf(stdout))];
}

async function fileLosses(git: Git, path: string): Promise<readonly string[]> {
  const top = orFail(await git(path, ['rev-parse', '--show-toplevel', '--absolute-git-dir']), 'look at the worktree');
  const [folder, gitFolder = ''] = linesOf(top.stdout);
  if (folder !== path) throw failed(`Cannot look at the worktree: "${showText(path)}" is no worktree any more`);
  const status = orFail(
    await git(path, [
      ...['-c', 'core.ignoreStat=false', '-c', 'core.untrackedCache=false', 'status', '--porcelain', '-z'],
      ...['--untracked-files=normal', '--ignored=traditional', '--ignore-submodules=none', '--no-renames'],
    ]),
    'list the changes of the worktree',
  ).stdout;
  const entries = entriesOf(status);
  const named = (isMet: (state: string) => boolean) =>
    entries.filter((entry) => isMet(entry.slice(0, 2))).map((entry) => entry.slice(3));
  const tracked = orFail(await git(path, ['ls-files', '-v', '-z']), 'list the files of the worktree').stdout;
  // Marked so that `git status` does not look at them.
  const unseen = entriesOf(tracked).flatMap((entry) =>
    /^(?:[a-z]|S) /.test(entry) && existsSync(join(path, entry.slice(2))) ? [entry.slice(2)] : [],
  );
  const begun = Object.entries(UNFINISHED).flatMap(([file, what]) => (existsSync(join(gitFolder, file)) ? [what] : []));
  return [
    ...listed(
      'changed files',
      named((state) => state !== '??' && state !== '!!'),
    ),
    ...listed(
      'untracked files',
      named((state) => state === '??'),
    ),
    ...listed(
      'files that git ignores',
      named((state) => state === '!!'),
    ),
    ...listed('files whose changes git was told not to see', unseen),
    ...listed('unfinished', [...new Set(begun)]),
  ];
}

/**
 * Remove a worktree and its branch.
 *
 * @param isForced Whatever it holds, which `worktreeLosses` lists, goes with it. Otherwise git itself refuses to lose
 *   files that came since.
 * @throws {GauntletError} `tool_failed`
 */
export async function removeWorktree(
  services: WorktreeServices,
  call: WorktreeCall,
  { path, branch }: Pick<Worktree, 'path' | 'branch'>,
  { isForced }: { readonly isForced: boolean },
): Promise<void> {
  const git = runner(services, call);
  const main = mainOf(path);
  refuseDanger('remove the worktree', main, call.session);
  const tip = (await git(main, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])).stdout.trim();
  if (existsSync(path)) {
    refuseDanger('remove the worktree', path, call.session);
    const force = isForced ? ['--force'] : [];
    orFail(await git(main, ['worktree', 'remove', ...force, path]), 'remove the worktree');
  } else {
    orFail(await git(main, ['worktree', 'prune']), 'remove the worktree');
  }
  // Named with its commit: a commit that came since keeps its branch.
  if (tip !== '') orFail(await git(main, ['update-ref', '-d', `refs/heads/${branch}`, tip]), 'remove the branch');
}

/** Return the main work tree of a worktree that `makeWorktree` made. */
function mainOf(path: string): string {
  const folder = dirname(path);
  if (basename(folder) !== WORKTREES_FOLDER) throw failed(`"${showText(path)}" is no worktree of a session`);
  return dirname(folder);
}

/** @throws {GauntletError} `tool_failed` if git would run a program that the repository names. */
function refuseDanger(what: string, folder: string, { root, permissions }: SessionContext): void {
  const danger = repositoryDanger(folder, [root, ...permissions.additionalDirectories]);
  if (danger !== undefined) throw failed(`Cannot ${what}, since git is not safe to run here: ${danger}`);
}

type Git = ReturnType<typeof runner>;
type GitEnd = Awaited<ReturnType<typeof runProgram>>;

function runner({ processHost }: WorktreeServices, { signal }: Pick<WorktreeCall, 'signal'>) {
  return async (cwd: string, args: readonly string[]): Promise<GitEnd> => {
    const end = await runProgram(processHost, {
      file: 'git',
      args,
      cwd,
      // Without its filter, which may use the network, git-lfs leaves pointers.
      env: { ...QUIET_GIT_ENVIRONMENT, GIT_LFS_SKIP_SMUDGE: '1', LC_ALL: 'C' },
      input: '',
      timeoutMs: GIT_MS,
      outputBytes: GIT_OUTPUT_BYTES,
      signal,
    });
    if (end.stoppedBy === 'signal') throw new GauntletError('cancelled', 'Cancelled while git ran');
    if (end.stoppedBy === undefined) return end;
    const why = end.stoppedBy === 'timeout' ? `took longer than ${GIT_MS} ms` : 'wrote too much';
    throw failed(`git ${args[0] ?? ''} was ended: it ${why}`);
  };
}

/** @throws {GauntletError} `tool_failed` with git's own words. */
function orFail(end: GitEnd, what: string): GitEnd {
  if (end.code === 0) return end;
  throw failed(
    `Cannot ${what}: ${cutText(showText(end.stderr.trim()), MESSAGE_CHARS) || `git ended with ${end.code}`}`,
  );
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

function entriesOf(text: string): readonly string[] {
  return text.split('\0').filter((entry) => entry !== '');
}

function listed(kind: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, LISTED_ENTRIES).map((name) => cutText(showText(name), MESSAGE_CHARS));
  const more = names.length > shown.length ? `, and ${names.length - shown.length} more` : '';
  return [`${kind}: ${shown.join(', ')}${more}`];
}

function failed(message: string): GauntletError {
  return new GauntletError('tool_failed', message);
}
