/**
 * Writes a file so that the change can be undone: the old content is stored, the change is logged, and only then the
 * file is written. All writes of single files by tools go through here.
 */
import type { Stats } from 'node:fs';
import type { FileChange } from '../wire/file-change.ts';
import type { ToolUseContext } from '../tool/tool.ts';
import { atomicWrite } from './atomic-write.ts';
import { fileState, isSameState, sha256Of } from './file-state.ts';
import { missingFolders } from './file-stats.ts';
import type { FileHistory } from './history.ts';

/** One file to write. */
export interface RecordedWrite {
  /** Real path from `LocatePath`. */
  readonly real: string;
  /** Path as the caller wrote it, for messages. */
  readonly spelled: string;
  readonly content: Buffer;
  /** Required state of the target; if absent, no file may exist. */
  readonly known?: { readonly content: Buffer; readonly sha256: string; readonly stats: Stats };
}

/** State of the file after the write. */
export interface WrittenFile {
  readonly stats: Stats;
  readonly sha256: string;
}

/**
 * Write a file and record the change.
 *
 * @throws {GauntletError} As `atomicWrite`; `log_unavailable` if the change cannot be logged, in which case nothing is
 * written.
 */
export async function recordedWrite(
  history: FileHistory,
  write: RecordedWrite,
  { sessionId, toolUseId, changes }: Pick<ToolUseContext, 'sessionId' | 'toolUseId' | 'changes'>,
): Promise<WrittenFile> {
  const { real, spelled, content, known } = write;
  const sha256 = sha256Of(content);
  const change = await plannedChange(history, sessionId, write, sha256);
  if (change) await changes.announce(change);
  try {
    const temporaryName = temporaryNameOf(sessionId, toolUseId, real);
    const stats = await atomicWrite({ real, spelled, content, expected: known?.stats ?? 'absent', temporaryName });
    const after = fileState(stats, sha256);
    // Access control lists of a folder may give a new file another mode than the umask does.
    if (change && !isSameState(change.after, after)) changes.report([{ ...change, after }]);
    return { stats, sha256 };
  } catch (error) {
    if (change) changes.report([{ ...change, kind: 'none' }]);
    throw error;
  }
}

/** Return the name of a call's temporary file. It is deterministic, so that files left by a crash can be attributed. */
export function temporaryNameOf(sessionId: string, toolUseId: string, real: string): string {
  return `.gauntlet-${sha256Of(Buffer.from(`${sessionId}\n${toolUseId}\n${real}`)).slice(0, 32)}`;
}

/** Predict the change; undefined if the write changes nothing. */
async function plannedChange(
  history: FileHistory,
  sessionId: string,
  { real, content, known }: RecordedWrite,
  sha256: string,
): Promise<FileChange | undefined> {
  const size = content.length;
  if (!known) {
    const after = fileState({ size, mode: 0o666 & ~process.umask() }, sha256);
    return { path: real, kind: 'created', after, folders: missingFolders(real), undoable: true };
  }
  const before = fileState(known.stats, known.sha256);
  const after = fileState({ size, mode: known.stats.mode }, sha256);
  if (isSameState(before, after)) return undefined;
  const reason = await history.keep(sessionId, known.content, known.sha256);
  return { path: real, kind: 'modified', before, after, undoable: reason === undefined, ...(reason && { reason }) };
}
