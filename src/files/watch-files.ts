/**
 * Detects file changes by a command, for files that it names and files that its session has read.
 *
 * Files that it is expected to write are stored before it runs, so that the change can be undone. Other files are
 * compared before and after. Another process may have changed one of those meanwhile, so their changes cannot be
 * undone. Changes of any other file are not detected.
 */
import type { Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { isInsideFolder } from '../../config/containment.ts';
import type { FileChange, FileState, NotKept } from '../wire/file-change.ts';
import type { FileReadRecord } from '../tool/session-context.ts';
import { fileState, isSameState, observeFile } from './file-state.ts';
import { isSameFile, missingFolders, statOf } from './file-stats.ts';
import type { FileHistory } from './history.ts';
import { keepFile } from './keep-file.ts';

/** Files to watch. */
export interface WatchRequest {
  readonly sessionId: string;
  /** Real paths that the command is expected to write: files, folders, or missing paths. */
  readonly written: readonly string[];
  /** Other real paths that the command names. */
  readonly mentioned: readonly string[];
  /** Files whose content the session has read. */
  readonly known: readonly FileReadRecord[];
  /** Upper bound of the watched files; named files come first. */
  readonly maxFiles: number;
  /** Size up to which a changed file is hashed. */
  readonly hashBytes: number;
}

interface WatchedFile {
  readonly path: string;
  readonly stats?: Stats;
  readonly before?: FileState;
  /** Reason why its change cannot be undone. */
  readonly reason?: NotKept;
  readonly folders?: readonly string[];
}

/**
 * Record the state of files before a command.
 *
 * @returns Function to call after the command; lists the changes in between. Neither rejects.
 */
export async function watchFiles(
  history: FileHistory,
  request: WatchRequest,
): Promise<() => Promise<readonly FileChange[]>> {
  const { sessionId, maxFiles, hashBytes } = request;
  const watched = new Map<string, WatchedFile>();
  for (const path of expectedFiles(request).slice(0, maxFiles)) {
    const file = await recordAndStore(history, sessionId, path);
    if (file) watched.set(path, file);
  }
  for (const seen of [...request.mentioned.map((path) => ({ path })), ...request.known]) {
    if (watched.size >= maxFiles) break;
    const file = watched.has(seen.path) ? undefined : recordState(seen);
    if (file) watched.set(seen.path, file);
  }
  return async () => {
    const changes: FileChange[] = [];
    for (const file of watched.values()) {
      const change = await changeOf(file, hashBytes);
      if (change) changes.push(change);
    }
    return changes;
  };
}

/**
 * List the files that the command may write: by name, in a folder it writes, or in a folder under the name of its
 * source (`mv a b/`).
 */
function expectedFiles({ written, mentioned, known }: WatchRequest): readonly string[] {
  const folders = new Set(written.filter((path) => attempt(() => statOf(path))?.isDirectory()));
  const names = new Set([...written, ...mentioned].map((path) => basename(path)));
  const below = [...folders].flatMap((folder) => [
    ...known.flatMap(({ path }) => (isInsideFolder(folder, path) ? [path] : [])),
    ...[...names].map((name) => join(folder, name)),
  ]);
  return [...new Set([...written.filter((path) => !folders.has(path)), ...below])];
}

async function recordAndStore(history: FileHistory, sessionId: string, path: string): Promise<WatchedFile | undefined> {
  try {
    const { stats, state, reason } = await keepFile(history, sessionId, path);
    if (!stats) return { path, folders: missingFolders(path) };
    return stats.isFile() ? { path, stats, before: state, reason } : undefined;
  } catch {
    // Unreadable, so changes of it cannot be detected.
    return undefined;
  }
}

/** Record the state of a file. The digest from the session's read is valid if the file was not written since. */
function recordState({ path, mtimeMs, sizeBytes, sha256 }: Partial<FileReadRecord> & { readonly path: string }) {
  const stats = attempt(() => statOf(path));
  if (!stats) return { path, reason: 'not_foreseen' } satisfies WatchedFile;
  if (!stats.isFile()) return undefined;
  const isAsRead = stats.mtimeMs === mtimeMs && stats.size === sizeBytes;
  const before = fileState(stats, isAsRead ? sha256 : undefined);
  return { path, stats, before, reason: 'not_foreseen' } satisfies WatchedFile;
}

async function changeOf(
  { path, stats, before, reason, folders }: WatchedFile,
  hashBytes: number,
): Promise<FileChange | undefined> {
  try {
    const now = statOf(path);
    if (isUntouched(stats, now)) return undefined;
    // If a folder or a link replaced it, the file counts as deleted.
    const after = now?.isFile() ? (await observeFile(path, (bytes) => bytes <= hashBytes)).state : undefined;
    if (isSameState(before, after)) return undefined;
    const kind = before ? (after ? 'modified' : 'deleted') : 'created';
    // Without a digest, later changes by others could not be detected.
    const stuck = reason ?? (after && after.sha256 === undefined ? 'too_large' : undefined);
    return { path, kind, before, after, folders, undoable: stuck === undefined, ...(stuck && { reason: stuck }) };
  } catch {
    // Unreadable by now, so nothing is reported.
    return undefined;
  }
}

function isUntouched(before: Stats | undefined, now: Stats | undefined): boolean {
  if (!before || !now) return before === now;
  return isSameFile(before, now) && before.ctimeMs === now.ctimeMs;
}

function attempt<Answer>(look: () => Answer): Answer | undefined {
  try {
    return look();
  } catch {
    // An unreadable folder on the way: treated as missing.
    return undefined;
  }
}
