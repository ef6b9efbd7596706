/**
 * Checks whether the settings of a repository would make git run programs.
 *
 * A clone brings files, but an unpacked archive may also bring a `.git` folder, whose settings may name programs that
 * `git status` starts. The repository is inspected without running git, following git's own search from a folder.
 * Anything that cannot be read or understood is a danger, too. Settings of the user and of the system are trusted and
 * not inspected.
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
  undeterminedError,
} from './git-index.ts';
import { resolveRealPath } from './real-path.ts';

/**
 * Settings of git that name programs which a read-only command may start.
 *
 * These are the keys that git documents as commands (git-config(1)), less those that the environment of such a command
 * (`git-environment.ts`) makes ineffective:
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
  // Every diff; `blame` and `grep` if told to.
  { name: /^diff\.(?:external|.*\.(?:command|textconv))$/s },
  // `log -m` repeats merges if `log.diffMerges` says so.
  { name: /^merge\..*\.driver$/s },
  // Newer versions also take hooks from settings: `status` and `diff` may write the index, which is an event.
  { name: /^hook\..*\.command$/s },
  // In newer versions an alias may replace a sub-command that is to be removed.
  { name: /^alias\.(?:.*\.)?whatchanged(?:\.command)?$/s },
  // git-lfs, a filter that operators install for all repositories, reads these from the repository.
  { name: /^lfs\.(?:extension|customtransfer)\..*\.(?:clean|smudge|path)$/is },
  // Run by nearly every sub-command to find changed files.
  { name: /^core\.fsmonitor$/, isOverridden: true },
  // Signatures are verified by `log.showSignature` and by formats.
  { name: /^gpg\.(?:program|.*\.program)$/s, isOverridden: true },
];

/** Values that run no program of the repository. */
const HARMLESS_VALUE = /^(?:true|false|cat|:)?$/;

/** Settings that name one file whose lines git shows, in messages or as names. */
const SHOWN_FILE = /^(?:blame\.ignorerevsfile|mailmap\.file)$/;

/**
 * Bytes of all indexes read in one inspection, which blocks other calls: 200,000 files take 35 ms, twice that in
 * version 4.
 */
const MAX_INDEX_BYTES = 24 * 1_048_576;

/** Upper bound of `HEAD`, `commondir` and a `.git` file: a path and its line end. */
const MAX_POINTER_BYTES = 4_352;

const MAX_REPOSITORIES = 128;

/** Parsed indexes, by the file's identity. */
const parsedIndexes = new LRUCache<string, IndexedFolders>({ max: 64 });

/** State of one inspection: readable folders and remaining budget. */
interface Inspection extends ConfigBudget {
  readonly roots: readonly string[];
  repositories: number;
  indexBytes: number;
  /** Number of indexes, and of folders in them, that may still be inspected. */
  indexed: number;
}

/** A repository that git may use. */
interface Repository {
  /** Real path of the folder that contains `HEAD`. */
  readonly gitFolder: string;
  /** Folder where it was found, which is its work tree unless its settings differ. */
  readonly folder: string;
  /** True if git runs with the environment of a read-only command there; git drops it for sub-modules. */
  readonly isOverridden: boolean;
}

/**
 * Find dangers in the repositories around a folder: programs that git would run, or files it would read elsewhere.
 *
 * @param start Real path of the folder in which git would run.
 * @param roots Folders that may be read.
 * @param isOverridden True if git runs with the environment of a read-only command.
 * @returns A clause that names the danger; undefined if there is none, or no repository.
 */
export function repositoryDanger(start: string, roots: readonly string[], isOverridden = true): string | undefined {
  try {
    const realRoots = roots.map((root) => realPath(root).real);
    const inspection: Inspection = {
      roots: realRoots,
      configFiles: MAX_CONFIG_FILES,
      repositories: MAX_REPOSITORIES,
      indexBytes: MAX_INDEX_BYTES,
      indexed: MAX_INDEXED_FOLDERS,
    };
    for (let folder = start; ; folder = dirname(folder)) {
      const gitFolder = findGitFolder(folder);
      if (gitFolder !== undefined) {
        const danger = inspectRepository(gitFolder, folder, inspection, isOverridden);
        if (danger !== undefined) return danger;
        // Git's choice of a repository depends on more than this, so the search stops only at one that git certainly
        // uses.
        if (isCertainlyUsed(gitFolder)) return aboveDanger(folder, realRoots);
      }
      if (looksLikeRepository(folder)) return bareDanger(folder);
      if (dirname(folder) === folder) return undefined;
    }
  } catch (error) {
    if (error instanceof GauntletError) return lowerFirst(error.message);
    throw error;
  }
}

/**
 * Report a repository that begins above the working directories: git would show its versions of files that the session
 * may not read, and a jail would hide them from git.
 */
function aboveDanger(folder: string, roots: readonly string[]): string | undefined {
  if (roots.some((root) => isInsideFolder(root, folder))) return undefined;
  const shown = showText(folder);
  return `it begins above the working directories and holds files outside them. Add "${shown}" to them to read it unasked`;
}

/** Report a bare repository: a clone may contain such a folder, and git run inside it uses its settings. */
function bareDanger(folder: string): string {
  return `"${showText(folder)}" is laid out as a repository without a work tree, to be named with --git-dir`;
}

/** Return the real folder that `.git` is or names. @throws {GauntletError} If that cannot be determined. */
function findGitFolder(folder: string): string | undefined {
  const path = join(folder, '.git');
  const { real, stats } = realPath(path);
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return real;
  const named = /^gitdir: ([^\0]+?)[\r\n]*$/.exec(readText(path, MAX_POINTER_BYTES) ?? '')?.[1];
  if (named === undefined) throw undeterminedError(`Cannot tell which repository "${showText(path)}" names`);
  return realPath(resolve(folder, named)).real;
}

function inspectRepository(
  gitFolder: string,
  folder: string,
  inspection: Inspection,
  isOverridden: boolean,
): string | undefined {
  if (--inspection.repositories < 0)
    throw undeterminedError(`Cannot look at more than ${MAX_REPOSITORIES} repositories`);
  const repository = { gitFolder, folder, isOverridden };
  const common = commonFolder(gitFolder);
  const settings = [join(common, 'config'), join(gitFolder, 'config.worktree')].flatMap((file) =>
    readSettings(file, inspection),
  );
  return (
    placeDanger(repository, common, settings, inspection) ??
    settingDanger(repository, common, settings, inspection) ??
    submoduleDanger(repository, settings, inspection)
  );
}

function commonFolder(gitFolder: string): string {
  const named = readText(join(gitFolder, 'commondir'), MAX_POINTER_BYTES);
  return named === undefined ? gitFolder : realPath(resolve(gitFolder, named.replace(/[\r\n]+$/, ''))).real;
}

/**
 * Report a repository elsewhere that belongs to another work tree, unless its own files name this folder as its work
 * tree.
 */
function placeDanger(
  { gitFolder, folder }: Repository,
  common: string,
  settings: readonly LocatedSetting[],
  { roots }: Inspection,
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
  // Links inside may also lead to the history of another repository.
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
  { roots }: Inspection,
): string | undefined {
  for (const setting of settings) {
    const { name, value = '', file } = setting;
    const shown = `${showShort(name)} in "${showText(file)}"`;
    if (runsProgram(setting, isOverridden)) return `${shown} would run "${showShort(value)}"`;
    const path = namedFile(setting, folder, gitFolder);
    if (path === undefined) continue;
    const { real } = realPath(path);
    // For a linked work tree the file may also be in the folder of the main repository.
    if (![folder, dirname(common), ...roots].some((root) => isInsideFolder(root, real)))
      return `${shown} is "${showShort(value)}", outside the working directories`;
  }
  return undefined;
}

/** Return the file or folder that a setting makes git read and show. */
function namedFile(setting: LocatedSetting, folder: string, gitFolder: string): string | undefined {
  const { name, value, file } = setting;
  if (value === undefined || value === '') return undefined;
  if (name === 'core.worktree') return resolve(gitFolder, value);
  // `git config --list` shows all included settings.
  if (isInclude(setting)) return expandHome(value, dirname(file), file);
  return showsFile(setting) ? expandHome(value, folder, file) : undefined;
}

/** Inspect the sub-modules: git starts itself in their work trees, without the settings of its environment. */
function submoduleDanger(
  { gitFolder, folder }: Repository,
  settings: readonly LocatedSetting[],
  inspection: Inspection,
): string | undefined {
  // The file that contains `core.worktree` decides whether it applies, so all of them are tried.
  const named = settings.flatMap(({ name, value }) => (name === 'core.worktree' && value !== undefined ? [value] : []));
  const tops = new Set([folder, ...named.map((workTree) => resolve(gitFolder, workTree))]);
  const isSha256 = settings.some(({ name, value }) => name === 'extensions.objectformat' && value === 'sha256');
  const files = indexFiles(gitFolder);
  countFolders(files.length, inspection);
  for (const file of files) {
    const folders = readIndex(file, isSha256 ? 32 : 20, inspection);
    const { submodules = [], unlisted = [] } = folders ?? {};
    countFolders((submodules.length + unlisted.length) * tops.size, inspection);
    const inEachTop = (paths: readonly string[]) => [...tops].flatMap((top) => paths.map((path) => join(top, path)));
    for (const nested of inEachTop(submodules)) {
      const found = findGitFolder(nested);
      const danger = found === undefined ? undefined : inspectRepository(found, nested, inspection, false);
      if (danger !== undefined) return danger;
    }
    const present = inEachTop(unlisted).find((path) => realPath(path).stats !== undefined);
    if (present !== undefined) throw undeterminedError(`Cannot know the sub-modules in "${showText(present)}"`);
  }
  return undefined;
}

/** @throws {GauntletError} If the inspection exceeds its number of folders. */
function countFolders(folders: number, inspection: Inspection): void {
  if ((inspection.indexed -= folders) < 0)
    throw undeterminedError(`Cannot look at more than ${MAX_INDEXED_FOLDERS} sub-modules and indexes`);
}

/** @throws {GauntletError} */
function readIndex(file: string, idBytes: number, inspection: Inspection): IndexedFolders | undefined {
  const { stats } = realPath(file);
  if (stats === undefined) return undefined;
  const identity = [file, idBytes, stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join('\0');
  const known = parsedIndexes.get(identity);
  if (known) return known;
  if ((inspection.indexBytes -= stats.size) < 0)
    throw undeterminedError(
      `Cannot read the index "${showText(file)}": there are more than ${MAX_INDEX_BYTES} bytes of them`,
    );
  const index = readBytes(file, stats.size);
  const folders = index && indexedFolders(index, idBytes);
  if (index && !folders)
    throw undeterminedError(`Cannot understand the index "${showText(file)}", or it names too many folders`);
  if (folders) parsedIndexes.set(identity, folders);
  return folders;
}

/** List the index, and the shared parts of a split index. @throws {GauntletError} */
function indexFiles(gitFolder: string): readonly string[] {
  // A `.git` file may name a missing folder, as those of removed work trees do.
  if (realPath(gitFolder).stats === undefined) return [];
  try {
    const halves = readdirSync(gitFolder).filter((name) => name.startsWith('sharedindex.'));
    return ['index', ...halves].map((name) => join(gitFolder, name));
  } catch (error) {
    throw undeterminedError(`Cannot list "${showText(gitFolder)}": ${showText(errorMessage(error))}`);
  }
}

/**
 * Report whether git certainly uses this repository and searches no further. This is git's own test, except for owners
 * and versions, where git stops with an error.
 */
function isCertainlyUsed(gitFolder: string): boolean {
  const head = readText(join(gitFolder, 'HEAD'), MAX_POINTER_BYTES);
  const common = commonFolder(gitFolder);
  const isFolder = (name: string) => realPath(join(common, name)).stats?.isDirectory() === true;
  return /^(?:ref: refs\/|[\da-f]{40})/.test(head ?? '') && isFolder('objects') && isFolder('refs');
}

/** Report whether a folder may be a repository. The test is weaker than git's, so that none is missed. */
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
  /** True if the environment of a read-only command overrides it, so that it takes effect in sub-modules only. */
  readonly isOverridden?: boolean;
}

/**
 * Report whether a setting may start a program chosen by the repository.
 *
 * @param isOverridden True if the environment of a read-only command applies.
 */
function runsProgram({ name, value = '' }: GitSetting, isOverridden: boolean): boolean {
  if (HARMLESS_VALUE.test(value)) return false;
  return PROGRAM_SETTINGS.some((setting) => setting.name.test(name) && !(isOverridden && setting.isOverridden));
}

/** Report whether the value of a setting is a file whose text git may show. */
function showsFile({ name }: GitSetting): boolean {
  return SHOWN_FILE.test(name);
}
