/**
 * First step of locating a path: checks its text.
 *
 * Runs before the disk is accessed, since accessing some spellings has effects (a UNC name sends credentials) and
 * others look like a different path than the one that would be opened.
 */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { SessionContext } from '../tool/session-context.ts';
import { hasHiddenCharacters } from '../base/hidden-characters.ts';

/** PATH_MAX of Linux, bytes. */
const PATH_BYTES = 4_096;
/** NAME_MAX of all common file systems, bytes. */
const NAME_BYTES = 255;

const isWindows = process.platform === 'win32';

/**
 * Explain why a path's spelling is refused.
 *
 * @param path As spelled in an input.
 * @returns Reason as a clause; undefined if it is accepted.
 */
export function refuseSpelling(path: string): string | undefined {
  if (path === '') return 'the path is empty';
  if (hasHiddenCharacters(path)) return 'the path holds control, invisible or ill-formed characters';
  if (Buffer.byteLength(path) > PATH_BYTES) return `the path is longer than ${PATH_BYTES} bytes`;
  if (hasLongName(path)) return `a name in the path is longer than ${NAME_BYTES} bytes`;
  if (path.startsWith('\\\\') || path.startsWith('//') || path.startsWith('\\??\\'))
    return 'network and device paths are not files here';
  if (/^[A-Za-z][A-Za-z0-9+.-]+:\/\//.test(path) || /^file:/i.test(path)) return 'it is a URL, not a path';
  if (!isWindows && /^[A-Za-z]:/.test(path)) return 'drive letters do not exist on this system';
  if (isWindows && /[. ](?:[\\/]|$)|[^\\/]{2,}:/.test(path.replace(/(^|[\\/])\.{1,2}(?=[\\/]|$)/g, '$1'))) {
    return 'names that end in a dot or a blank, and alternate streams, open another file than they name';
  }
  return undefined;
}

/**
 * Return the absolute, normalised path of a spelling.
 *
 * Only `~` and `~/` are expanded; `~user`, `$NAME` and `%NAME%` are ordinary names.
 *
 * @param path Accepted by `refuseSpelling`.
 * @param cwd Absolute working directory of the session.
 */
export function absolutePath(path: string, cwd: string, home: string): string {
  const isHome = path === '~' || path.startsWith('~/');
  return isHome ? resolve(home, `.${path.slice(1)}`) : resolve(cwd, path);
}

/**
 * Create a tool's `backfillObservableInput`: hooks, rules and people see the absolute path.
 *
 * @param field Field of the input that holds the path.
 */
export function shownAbsolute(field: string) {
  return function backfillObservableInput(clone: Record<string, unknown>, { cwd }: SessionContext): void {
    const path = clone[field];
    if (typeof path === 'string' && refuseSpelling(path) === undefined)
      clone[field] = absolutePath(path, cwd, homedir());
  };
}

function hasLongName(path: string): boolean {
  // No name can be too long in a short path; UTF-8 takes at most three bytes per code unit.
  if (path.length * 3 <= NAME_BYTES) return false;
  return path.split('/').some((name) => Buffer.byteLength(name) > NAME_BYTES);
}
