/** Converts failed system calls on files to errors for the caller. */
import { GauntletError } from '../base/errors.ts';
import { errorCode } from './real-path.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied (EACCES)',
  EPERM: 'the operation is not permitted (EPERM)',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a name before its last one is a file, not a folder',
  ELOOP: 'it became a link after it was checked. Try again',
  ENXIO: 'it is not a regular file',
  ENOSPC: 'the disk is full (ENOSPC)',
  EDQUOT: 'the disk quota is used up (EDQUOT)',
  EROFS: 'the file system is read-only (EROFS)',
  EFBIG: 'the file would be too large (EFBIG)',
};

/** Temporary shortages of the server; all other codes concern the file. */
const SHORTAGES = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']);

/**
 * Convert an error of a system call.
 *
 * @param action Words before the path: `Cannot read`.
 * @param path As the caller spelled it.
 * @returns `tool_failed`, or `resource_exhausted` for a shortage; `details.reason` is the system's code in lower case.
 */
export function fileError(action: string, path: string, error: unknown): GauntletError {
  if (error instanceof GauntletError) return error;
  const code = errorCode(error) ?? 'unknown';
  const isShortage = SHORTAGES.has(code);
  const why = isShortage
    ? `the server is short of resources (${code}). Try again later`
    : (REASONS[code] ?? `the system refused (${code})`);
  return new GauntletError(isShortage ? 'resource_exhausted' : 'tool_failed', `${action} "${path}": ${why}`, {
    details: { reason: code.toLowerCase() },
    cause: error,
  });
}
