/**
 * Files are put back as they were before one call, or after one moment: all of them are looked at first, and nothing is
 * touched unless each is as this session left it.
 *
 * The frame follows the deed. A crash in between leaves files that are as wanted already, which the same request then
 * finds and logs.
 */
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isInsideFolder } from '../../../config/containment.ts';
import { errorMessage, GauntletError } from '../../base/errors.ts';
import { atomicWrite } from '../../files/atomic-write.ts';
import { isSameState, modeBits } from '../../files/file-state.ts';
import { statOf } from '../../files/file-stats.ts';
import type { FileHistory } from '../../files/history.ts';
import { keepFile } from '../../files/keep-file.ts';
import { temporaryNameOf } from '../../files/recorded-write.ts';
import { removeEmptyFolder, removeFile } from '../../files/remove-checked.ts';
import { UNDO } from '../../files/writers.ts';
import type { ChangeFrame, Seq, UndoFrame, UndoneFile } from '../../wire/frames.ts';
import type { SessionCore } from '../session-core.ts';
import { isChangeOf, isInDoubt, type LoggedChange, loggedChanges } from './logged-changes.ts';
import { type FilePlan, planUndo, type UndoPlan } from './plan-undo.ts';

/** What to take back: one call, or all after a frame. */
export type UndoTarget = { readonly toolUseId: string } | { readonly toSeq: Seq };

/** What an undo did, in wire shape. */
export interface UndoReply extends Pick<UndoFrame, 'files' | 'left'> {
  /** Its frame; absent where there was nothing to take back. */
  readonly seq?: Seq;
}

/**
 * Take changes back.
 *
 * @param by The principal that asks.
 * @throws {GauntletError} `not_found`; `forbidden` where a deny rule stands before a file; `conflict`, with
 *   `details.reason` `calls_running`, `changed_later`, `changed_since`, `not_undoable` or `interrupted`.
 */
export function undoChanges(core: SessionCore, target: UndoTarget, by: string): Promise<UndoReply> {
  if ('toolUseId' in target && !core.ledger.call(target.toolUseId)) {
    throw new GauntletError('not_found', `There is no call "${target.toolUseId}" in this session`);
  }
  refuseForgotten(core, target);
  return core.executor.holdFor(async () => {
    await untilLogged(core);
    const changes = await loggedChanges(core);
    const standing = changes.filter(({ undoneBy }) => undoneBy === undefined);
    const wanted = standing.filter((change) => isMeant(core, change, target));
    if (wanted.length === 0) return { files: [], left: [] };
    const plan = await planUndo(core, wanted, standing);
    const folders = madeFolders(core, changes, target);
    return carryOut(core, { ...plan, folders, wanted }, target, by);
  });
}

/** Retention takes the oldest frames first: what they said of changes is not known any more. */
function refuseForgotten({ id, ledger, services }: SessionCore, target: UndoTarget): void {
  const first = services.log.bounds(id)?.first ?? 1;
  const begin = 'toolUseId' in target ? ledger.call(target.toolUseId)?.acceptedSeq : target.toSeq + 1;
  if (begin === undefined || begin >= first) return;
  throw new GauntletError('gone', `Cannot undo: the log keeps nothing before frame ${first}. Undo to a later one`, {
    details: { first },
  });
}

/** A call is taken back with its inner calls. */
function isMeant(core: SessionCore, change: LoggedChange, target: UndoTarget): boolean {
  return 'toolUseId' in target ? isChangeOf(core, change, target.toolUseId) : change.seq > target.toSeq;
}

/** What calls have said must stand in the log before it is read. */
async function untilLogged({ log, services }: SessionCore): Promise<void> {
  for (let turn = 0; !log.isSettled; turn++) {
    if (turn === services.limits.undoSettlingTurns)
      throw new GauntletError(
        'log_unavailable',
        'Cannot undo: what was changed is not in the log yet. Try again later',
      );
    await nextTurn();
  }
}

/** Folders made on the way to files that are taken back now, or were before while others still lay there; the innermost first. */
function madeFolders(core: SessionCore, changes: readonly LoggedChange[], target: UndoTarget): readonly string[] {
  const backThen = changes.filter(
    (change) => isMeant(core, change, target) || ('toolUseId' in target && change.undoneBy !== undefined),
  );
  const folders = new Set(backThen.flatMap((change) => change.folders ?? []));
  return [...folders].sort((one, other) => other.length - one.length);
}

async function carryOut(
  core: SessionCore,
  {
    files,
    left,
    folders,
    wanted,
  }: UndoPlan & {
    readonly folders: readonly string[];
    readonly wanted: readonly LoggedChange[];
  },
  target: UndoTarget,
  by: string,
): Promise<UndoReply> {
  const done: UndoneFile[] = [];
  const failure = await putBackAll(core, files, done, by);
  for (const change of wanted) if (isInDoubt(core, change)) removeLeftover(core.id, change);
  for (const folder of folders) if (done.some(({ path }) => isInsideFolder(folder, path))) removeEmptyFolder(folder);
  const meant = 'toolUseId' in target ? { tool_use_id: target.toolUseId } : { to_seq: target.toSeq };
  const seq = done.length === 0 ? undefined : await core.log.emit({ type: 'undo', ...meant, by, files: done, left });
  if (!failure) return { seq, files: done, left };
  throw new GauntletError('conflict', `Cannot undo all of it: ${errorMessage(failure.error)}`, {
    details: { reason: 'interrupted', paths: [failure.path], restored: done.map(({ path }) => path) },
    cause: failure.error,
  });
}

/** @returns The file at which it had to stop; those before it are put back. */
async function putBackAll(
  core: SessionCore,
  files: readonly FilePlan[],
  done: UndoneFile[],
  by: string,
): Promise<{ readonly path: string; readonly error: unknown } | undefined> {
  const writer = { sessionId: core.id, principal: by, toolName: UNDO };
  for (const file of files) {
    try {
      done.push(await putBack(core.services.history, core.id, file));
      core.services.history.writers.note(file.path, writer);
    } catch (error) {
      return { path: file.path, error };
    }
    await nextTurn();
  }
  return undefined;
}

/**
 * Put one file back. What is there now is kept as well, where there is room: an undo destroys nothing.
 *
 * @throws {GauntletError} `tool_failed` if it changed since it was looked at, or the disk refuses.
 */
async function putBack(history: FileHistory, sessionId: string, file: FilePlan): Promise<UndoneFile> {
  const { path, found, target, changes } = file;
  const done = { path, changes, ...(target && { state: target }) };
  if (isSameState(found.state, target)) return { ...done, kind: 'none' };
  if (found.stats) await keepFile(history, sessionId, path);
  if (!target) {
    if (found.stats) removeFile(path, found.stats);
    return { ...done, kind: 'deleted' };
  }
  const content = target.sha256 === undefined ? undefined : await history.read(sessionId, target.sha256);
  if (!content) throw new GauntletError('tool_failed', `Cannot restore "${path}": what was kept of it is gone`);
  const expected = found.stats ?? 'absent';
  await atomicWrite({ real: path, spelled: path, content, expected, mode: modeBits(target) });
  return { ...done, kind: found.stats ? 'modified' : 'created' };
}

/** A server that dies in the middle of a write leaves what it had written so far, under another name. */
function removeLeftover(sessionId: string, { path, tool_use_id: toolUseId }: ChangeFrame): void {
  const leftover = join(dirname(path), temporaryNameOf(sessionId, toolUseId, path));
  const stats = statOf(leftover);
  if (stats?.isFile()) removeFile(leftover, stats);
}
