/**
 * The files that a session changed, as they are now.
 */
import { GauntletError } from '../../base/errors.ts';
import { readSmallFile } from '../../files/open-checked.ts';
import type { SessionCore } from '../session-core.ts';
import { loggedChanges } from './logged-changes.ts';

/** Files listed, the latest change first. */
const MAX_FILES = 1_000;

/** A file that a session changed and that is there. */
export interface ChangedFile {
  /** Absolute real path. */
  readonly path: string;
  /** Time of its last change by the session, ISO 8601. */
  readonly changedAt: string;
  /** Size after that change. */
  readonly sizeBytes: number;
}

/** List the files that may be read and were not deleted. @throws {GauntletError} `log_unavailable` */
export async function changedFiles(core: SessionCore): Promise<readonly ChangedFile[]> {
  const files = new Map<string, ChangedFile>();
  for (const { path, after, ts } of await loggedChanges(core)) {
    // The latest change stands last.
    files.delete(path);
    if (after) files.set(path, { path, changedAt: ts, sizeBytes: after.size_bytes });
  }
  const isDenied = readDenialOf(core);
  return [...files.values()]
    .filter(({ path }) => !isDenied(path))
    .reverse()
    .slice(0, MAX_FILES);
}

/**
 * Read a file that the session changed.
 *
 * @throws {GauntletError} `not_found` for any other file, `forbidden` if a deny rule hides it, `tool_failed` if it cannot
 *   be read.
 */
export async function readChangedFile(core: SessionCore, path: string, maxBytes: number): Promise<Buffer> {
  const changes = await loggedChanges(core);
  if (!changes.some((change) => change.path === path))
    throw new GauntletError('not_found', `The session has not changed a file "${path}"`);
  if (readDenialOf(core)(path)) throw new GauntletError('forbidden', `A deny rule hides "${path}" from reading`);
  return readSmallFile(path, path, maxBytes);
}

function readDenialOf({ services, context }: SessionCore): (path: string) => boolean {
  return services.readDenial(context.permissions, context.root);
}
