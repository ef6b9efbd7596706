/**
 * What a repository's own settings would make git run.
 *
 * A clone brings files, an unpacked archive brings a `.git` folder as well: its settings may name programs that
 * `git status` starts. The repository is looked at without running git, as git would find it from a folder. What cannot
 * be read or understood is a danger too. Settings of the user and of the system are trusted and not looked at.
 */
import { LRUCache } from 'lru-cache';
import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isInsideFolder } from '../../config/containment.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { showText } from '../base/hidden-characters.ts';
import type { GitSetting } from './git-config.ts';
import {
  type ConfigBudget,
  expandHome,
  indexedFolders,
  type IndexedFolders,
  isInclude,
  type LocatedSetting,
  MAX_CONFIG_FILES,
  MAX_INDEXED_FOLDERS,
  readBytes,
  readSettings,
  readText,
  realPath,
  showShort,
  unclear,
} from './git-index.ts';
import { resolveRealPath } from './real-path.ts';

/**
 * Settings of git that name programs which a read-only command may start.
 *
 * These are the keys that git documents as commands (git-config(1)), less those that the environment of such a command
 * (`tools/shell/bash/shell-request.ts`) makes ineffective:
 * - `core.fsmonitor`, `core.hooksPath` and `gpg.*` are set in it, but git drops that for the processes that it starts in
 *   sub-modules;
 * - `core.sshCommand`, `core.gitProxy`, `core.askPass`, `credential.helper` and `remote.*` are for transports, and
 *   `GIT_ALLOW_PROTOCOL` refuses each of these, in sub-modules too;
 * - pagers give way to `GIT_PAGER`;
 * - editors, browsers, aliases, mail, `difftool`, `mergetool`, `tar.*`, `trailer.*` and `submodule.*.update` belong to
 *   sub-commands that are not known to only read. No alias takes the place of a sub-command but the one below.
 */
const PROGRAM_SETTINGS: readonly ProgramSetting[] = [
  // `status` and `diff` pass changed files through the filter that their attributes name.
  { name: /^filter\..*\.(?:clean|smudge|process)$/s },
  // Whatever shows differences, and `blame` and `grep` where they are told to.
  { name: /^diff\.(?:external|.*\.(?:command|textconv))$/s },
  // `log -m` merges anew where `log.diffMerges` says so.
  { name: /^merge\..*\.driver$/s },
  // Newer versions take hooks from settings, too: `status` and `diff` may write the index, which is an event.
  { name: /^hook\..*\.command$/s },
  // Newer versions let an alias take the place of a sub-command that is to be removed.
  { name: /^alias\.(?:.*\.)?whatchanged(?:\.command)?$/s },
  // git-lfs, a filter that operators set up for all repositories, asks these of the repository.
  { name: /^lfs\.(?:extension|customtransfer)\..*\.(?:clean|smudge|path)$/is },
  // Asked for what has changed, by nearly every sub-command.
  { name: /^core\.fsmonitor$/, isOverridden: true },
  // Signatures are verified by `log.showSignature` and by formats.
  { name: /^gpg\.(?:program|.*\.program)$/s, isOverridden: true },
];

/** Values that run nothing of the repository's: not even a program that it holds. */
const HARMLESS_VALUE = /^(?:true|false|cat|:)?$/;

/** Settings of one file that git reads and shows lines of, in messages or as names. */
const SHOWN_FILE = /^(?:blame\.ignorerevsfile|mailmap\.file)$/;

/** Of all indexes that one look reads, as no other call goes on meanwhile: 200,000 files take 35 ms, twice that in version 4. */
const MAX_INDEX_BYTES = 24 * 1_048_576;

/** Of `HEAD`, `commondir` and a `.git` file: a path and its line end. */
const MAX_POINTER_BYTES = 4_352;

const MAX_REPOSITORIES = 128;

/** Indexes that were read, by the file's identity. */
const knownIndexes = new LRUCache<string, IndexedFolders>({ max: 64 });

/** One look: where it may lead, and how much it has cost. */
interface Look extends ConfigBudget {
  readonly roots: readonly string[];
  repositories: number;
  indexBytes: number;
  /** Indexes, and folders that they name. */
  indexed: number;
}

/** A repository that git may take. */
interface Repository {
  /** Real path of the folder that holds `HEAD`. */
  readonly gitFolder: string;
  /** The folder where it was found: its files stand here, unless it says otherwise. */
  readonly folder: string;
  /** git reads it in the environment of a command that only reads: it drops that in sub-modules. */
  readonly isOverridden: boolean;
}

/**
 * Find out what git could be made to run, or to read elsewhere, by the repositories around a folder.
 *
 * @param start Real path of the folder that git would be run in.
 * @param roots Folders that may be read.
 * @param isOverridden git runs in the environment of a command that only reads.
 * @returns A clause that names the danger; undefined where there is none, and where there is no repository.
 */
export function repositoryDanger(start: string, roots: readonly string[], isOverridden = true): string | undefined {
  try {
    const realRoots = roots.map((root) => realPath(root).real);
    const look: Look = {
      roots: realRoots,
      configFiles: MAX_CONFIG_FILES,
      repositories: MAX_REPOSITORIES,
      indexBytes: MAX_INDEX_BYTES,
      indexed: MAX_INDEXED_FOLDERS,
    };
    for (let folder = start; ; folder = dirname(folder)) {
      const gitFolder = findGitFolder(folder);
      if (gitFolder !== undefined) {
        const danger = judgeFound(gitFolder, folder, look, isOverridden);
        if (danger !== undefined) return danger;
        // Which repositories git takes depends on more than this: only past one that it surely takes does it not go on.
        if (isSurelyTaken(gitFolder)) return aboveDanger(folder, realRoots);
      }
      if (looksLikeRepository(folder)) return bareDanger(folder);
      if (dirname(folder) === folder) return undefined;
    }
  } catch (error) {
    if (error instanceof GauntletError) return lowerFirst(error.message);
    throw error;
  }
}

/** Git would show what the repository keeps of files that the session may not read; a jail would not let it look. */
function aboveDanger(folder: string, roots: readonly string[]): string | undefined {
  if (roots.some((root) => isInsideFolder(root, folder))) return undefined;
  const shown = showText(folder);
  return `it begins above the working directories and holds files outside them. Add "${shown}" to them to read it unasked`;
}

/** A clone may bring such a folder: git takes it for a repository, with its settings, when it is run inside. */
function bareDanger(folder: string): string {
  return `"${showText(folder)}" is laid out as a repository without a work tree, to be named with --git-dir`;
}

/** The real folder that `.git` is or names. @throws {GauntletError} Where that cannot be known. */
function findGitFolder(folder: string): string | undefined {
  const path = join(folder, '.git');
  const { real, stats } = realPath(path);
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return real;
  const named = /^gitdir: ([^\0]+?)[\r\n]*$/.exec(readText(path, MAX_POINTER_BYTES) ?? '')?.[1];
  if (named === undefined) throw unclear(`Cannot tell which repository "${showText(path)}" names`);
  return realPath(resolve(folder, named)).real;
}

function judgeFound(gitFolder: string, folder: string, look: Look, isOverridden: boolean): string | undefined {
  if (--look.repositories < 0) throw unclear(`Cannot look at more than ${MAX_REPOSITORIES} repositories`);
  const repository = { gitFolder, folder, isOverridden };
  const common = commonFolder(gitFolder);
  const settings = [join(common, 'config'), join(gitFolder, 'config.worktree')].flatMap((file) =>
    readSettings(file, look),
  );
  return (
    placeDanger(repository, common, settings, look) ??
    settingDanger(repository, common, settings, look) ??
    submoduleDanger(repository, settings, look)
  );
}

function commonFolder(gitFolder: string): string {
  const named = readText(join(gitFolder, 'commondir'), MAX_POINTER_BYTES);
  return named === undefined ? gitFolder : realPath(resolve(gitFolder, named.replace(/[\r\n]+$/, ''))).real;
}

/** A repository elsewhere is another one's, unless it says itself that this folder is its work tree. */
function placeDanger(
  { gitFolder, folder }: Repository,
  common: string,
  settings: readonly LocatedSetting[],
  { roots }: Look,
): string | undefined {
  const own = join(folder, '.git');
  const isWorktree = () =>
    dirname(dirname(gitFolder)) === common &&
    basename(dirname(gitFolder)) === 'worktrees' &&
    resolve(gitFolder, readText(join(gitFolder, 'gitdir'), MAX_POINTER_BYTES)?.trimEnd() ?? '') === own;
  const isSubmodule = () =>
    common === gitFolder &&
    settings.some(
      ({ name, value }) =>
        name === 'core.worktree' && value !== undefined && resolvesTo(resolve(gitFolder, value), folder),
    );
  const isHere = (path: string) => [folder, ...roots].some((root) => isInsideFolder(root, path));
  const foreign = [gitFolder, common].find((path) => !isHere(path));
  const isOwn = foreign === undefined || isWorktree() || isSubmodule();
  // Links inside lead to the history of another repository just as well.
  const linked = ['objects', 'refs', 'logs'].map((name) => realPath(join(common, name)).real);
  const away = isOwn ? linked.find((path) => !isHere(path) && !isInsideFolder(common, path)) : foreign;
  return away === undefined
    ? undefined
    : `"${showText(own)}" leads to "${showText(away)}", outside the working directories`;
}

function settingDanger(
  { gitFolder, folder, isOverridden }: Repository,
  common: string,
  settings: readonly LocatedSetting[],
  { roots }: Look,
): string | undefined {
  for (const setting of settings) {
    const { name, value = '', file } = setting;
    const shown = `${showShort(name)} in "${showText(file)}"`;
    if (runsProgram(setting, isOverridden)) return `${shown} would run "${showShort(value)}"`;
    const path = namedFile(setting, folder, gitFolder);
    if (path === undefined) continue;
    const { real } = realPath(path);
    // Settings of a work tree's repository may be split among that one's files.
    if (![folder, dirname(common), ...roots].some((root) => isInsideFolder(root, real)))
      return `${shown} is "${showShort(value)}", outside the working directories`;
  }
  return undefined;
}

/** The file or folder that a setting makes git read and show. */
function namedFile(setting: LocatedSetting, folder: string, gitFolder: string): string | undefined {
  const { name, value, file } = setting;
  if (value === undefined || value === '') return undefined;
  if (name === 'core.worktree') return resolve(gitFolder, value);
  // `git config --list` shows all that it includes.
  if (isInclude(setting)) return expandHome(value, dirname(file), file);
  return showsFile(setting) ? expandHome(value, folder, file) : undefined;
}

/** git starts itself in the work trees of sub-modules, without the settings of its environment. */
function submoduleDanger(
  { gitFolder, folder }: Repository,
  settings: readonly LocatedSetting[],
  look: Look,
): string | undefined {
  // Which of them holds depends on the file that says so.
  const named = settings.flatMap(({ name, value }) => (name === 'core.worktree' && value !== undefined ? [value] : []));
  const tops = new Set([folder, ...named.map((workTree) => resolve(gitFolder, workTree))]);
  const isSha256 = settings.some(({ name, value }) => name === 'extensions.objectformat' && value === 'sha256');
  const files = indexFiles(gitFolder);
  spendFolders(files.length, look);
  for (const file of files) {
    const folders = readIndex(file, isSha256 ? 32 : 20, look);
    const { submodules = [], unlisted = [] } = folders ?? {};
    spendFolders((submodules.length + unlisted.length) * tops.size, look);
    const inEachTop = (paths: readonly string[]) => [...tops].flatMap((top) => paths.map((path) => join(top, path)));
    for (const nested of inEachTop(submodules)) {
      const found = findGitFolder(nested);
      const danger = found === undefined ? undefined : judgeFound(found, nested, look, false);
      if (danger !== undefined) return danger;
    }
    const present = inEachTop(unlisted).find((path) => realPath(path).stats !== undefined);
    if (present !== undefined) throw unclear(`Cannot know the sub-modules in "${showText(present)}"`);
  }
  return undefined;
}

/** @throws {GauntletError} When one look has been sent to too many. */
function spendFolders(folders: number, look: Look): void {
  if ((look.indexed -= folders) < 0)
    throw unclear(`Cannot look at more than ${MAX_INDEXED_FOLDERS} sub-modules and indexes`);
}

/** @throws {GauntletError} */
function readIndex(file: string, idBytes: number, look: Look): IndexedFolders | undefined {
  const { stats } = realPath(file);
  if (stats === undefined) return undefined;
  const identity = [file, idBytes, stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join('\0');
  const known = knownIndexes.get(identity);
  if (known) return known;
  if ((look.indexBytes -= stats.size) < 0)
    throw unclear(`Cannot read the index "${showText(file)}": there are more than ${MAX_INDEX_BYTES} bytes of them`);
  const index = readBytes(file, stats.size);
  const folders = index && indexedFolders(index, idBytes);
  if (index && !folders) throw unclear(`Cannot understand the index "${showText(file)}", or it names too many folders`);
  if (folders) knownIndexes.set(identity, folders);
  return folders;
}

/** The index, and the other halves of one that is split. @throws {GauntletError} */
function indexFiles(gitFolder: string): readonly string[] {
  // A `.git` file may name what is gone, as those of removed work trees do.
  if (realPath(gitFolder).stats === undefined) return [];
  try {
    const halves = readdirSync(gitFolder).filter((name) => name.startsWith('sharedindex.'));
    return ['index', ...halves].map((name) => join(gitFolder, name));
  } catch (error) {
    throw unclear(`Cannot list "${showText(gitFolder)}": ${showText(errorMessage(error))}`);
  }
}

/** git would go up from here no further: its own test of a repository, but for owners and versions, at which it ends. */
function isSurelyTaken(gitFolder: string): boolean {
  const head = readText(join(gitFolder, 'HEAD'), MAX_POINTER_BYTES);
  const common = commonFolder(gitFolder);
  const isFolder = (name: string) => realPath(join(common, name)).stats?.isDirectory() === true;
  return /^(?:ref: refs\/|[\da-f]{40})/.test(head ?? '') && isFolder('objects') && isFolder('refs');
}

/** Less than git asks for, so that no folder is missed. */
function looksLikeRepository(folder: string): boolean {
  const has = (name: string) => resolveRealPath(join(folder, name));
  const isThere = (name: string) => {
    const found = has(name);
    return 'refusal' in found || found.stats !== undefined;
  };
  return isThere('HEAD') && (isThere('commondir') || (isThere('objects') && isThere('refs')));
}

function resolvesTo(path: string, folder: string): boolean {
  const found = resolveRealPath(path);
  return 'real' in found && found.real === folder;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

interface ProgramSetting {
  readonly name: RegExp;
  /** The environment of a command that only reads sets it, so that it has an effect in sub-modules alone. */
  readonly isOverridden?: boolean;
}

/** Whether a setting of a repository may start a program of its choice. @param isOverridden The environment holds there. */
function runsProgram({ name, value = '' }: GitSetting, isOverridden: boolean): boolean {
  if (HARMLESS_VALUE.test(value)) return false;
  return PROGRAM_SETTINGS.some((setting) => setting.name.test(name) && !(isOverridden && setting.isOverridden));
}

/** Whether the value of a setting is a file whose text git may show. */
function showsFile({ name }: GitSetting): boolean {
  return SHOWN_FILE.test(name);
}
