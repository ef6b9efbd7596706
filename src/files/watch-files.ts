/**
 * What a command changes, where it can be seen: the files it names, and those its session knows.
 *
 * Files it is said to write are kept before it runs, so that their change can be taken back. Of the others only a look at
 * them before and after tells, and not who did it: somebody may have saved one meanwhile, so nobody takes that back.
 * Whatever else it changes is not seen.
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

/** What to look at. */
export interface WatchRequest {
  readonly sessionId: string;
  /** Real paths that the command is said to write: files, folders, or nothing yet. */
  readonly written: readonly string[];
  /** Other real paths that stand in it. */
  readonly mentioned: readonly string[];
  /** Files whose content the session knows. */
  readonly known: readonly FileReadRecord[];
  /** Files looked at, those that are named first. */
  readonly mostFiles: number;
  /** A larger file is not hashed afterwards. */
  readonly hashBytes: number;
}

interface WatchedFile {
  readonly path: string;
  readonly stats?: Stats;
  readonly before?: FileState;
  /** Why its change cannot be taken back. */
  readonly reason?: NotKept;
  readonly folders?: readonly string[];
}

/**
 * Look at files before a command.
 *
 * @returns Looks again, after it: what changed in between. Neither rejects.
 */
export async function watchFiles(
  history: FileHistory,
  request: WatchRequest,
): Promise<() => Promise<readonly FileChange[]>> {
  const { sessionId, mostFiles, hashBytes } = request;
  const watched = new Map<string, WatchedFile>();
  for (const path of foreseenFiles(request).slice(0, mostFiles)) {
    const file = await lookAndKeep(history, sessionId, path);
    if (file) watched.set(path, file);
  }
  for (const seen of [...request.mentioned.map((path) => ({ path })), ...request.known]) {
    if (watched.size >= mostFiles) break;
    const file = watched.has(seen.path) ? undefined : look(seen);
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

/** What is written by its own name, with the folder it lies in, or in a folder under the name it had elsewhere: `mv a b/`. */
function foreseenFiles({ written, mentioned, known }: WatchRequest): readonly string[] {
  const folders = new Set(written.filter((path) => attempt(() => statOf(path))?.isDirectory()));
  const names = new Set([...written, ...mentioned].map((path) => basename(path)));
  const below = [...folders].flatMap((folder) => [
    ...known.flatMap(({ path }) => (isInsideFolder(folder, path) ? [path] : [])),
    ...[...names].map((name) => join(folder, name)),
  ]);
  return [...new Set([...written.filter((path) => !folders.has(path)), ...below])];
}

async function lookAndKeep(history: FileHistory, sessionId: string, path: string): Promise<WatchedFile | undefined> {
  try {
    const { stats, state, reason } = await keepFile(history, sessionId, path);
    if (!stats) return { path, folders: missingFolders(path) };
    return stats.isFile() ? { path, stats, before: state, reason } : undefined;
  } catch {
    // Nobody may look there; what becomes of it cannot be seen.
    return undefined;
  }
}

/** What the session knows of a file holds as long as nobody wrote it since. */
function look({ path, mtimeMs, sizeBytes, sha256 }: Partial<FileReadRecord> & { readonly path: string }) {
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
    // A folder or a link in its place is no file: the file is gone.
    const after = now?.isFile() ? (await observeFile(path, (bytes) => bytes <= hashBytes)).state : undefined;
    if (isSameState(before, after)) return undefined;
    const kind = before ? (after ? 'modified' : 'deleted') : 'created';
    // What was not looked at cannot be told from what somebody else makes of it later.
    const stuck = reason ?? (after && after.sha256 === undefined ? 'too_large' : undefined);
    return { path, kind, before, after, folders, undoable: stuck === undefined, ...(stuck && { reason: stuck }) };
  } catch {
    // It cannot be looked at any more: there is nothing to say about it.
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
    // A folder on the way may not be entered: as good as not there.
    return undefined;
  }
}
