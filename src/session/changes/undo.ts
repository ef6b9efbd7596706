/**
 * Restores files to their state before one call, or after one frame. All files are checked first, and nothing is
 * changed unless each is as this session left it.
 *
 * The frame is logged after the files are restored. After a crash in between, the same request finds the files restored
 * and logs the frame.
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
import type { UndoReply } from '../../wire/call-replies.ts';
import type { ChangeFrame, Seq, UndoneFile } from '../../wire/frames.ts';
import type { SessionCore } from '../session-core.ts';
import { isChangeOf, isInDoubt, type LoggedChange, loggedChanges } from './logged-changes.ts';
import { type FilePlan, planUndo, type UndoPlan } from './plan-undo.ts';

/** Turns of the event loop in which rows on their way land, before an undo is refused. */
const MAX_SETTLING_TURNS = 20;

/** Changes to undo: those of one call, or all after a frame. */
export type UndoTarget = { readonly toolUseId: string } | { readonly toSeq: Seq };

/**
 * Revert changes.
 *
 * @param by Principal that requests it.
 * @throws {GauntletError} `not_found`; `forbidden` if a deny rule covers a file; `conflict`, with `details.reason`
 *   `calls_running`, `changed_later`, `changed_since`, `not_undoable` or `interrupted`.
 */
export function undoChanges(core: SessionCore, target: UndoTarget, by: string): Promise<UndoReply> {
  return withPlan(core, target, (plan) => carryOut(core, plan, target, by));
}

/** Tell what `undoChanges` would do, and do nothing. @throws {GauntletError} As `undoChanges`, but for the disk. */
export async function previewUndo(core: SessionCore, target: UndoTarget): Promise<UndoReply> {
  const preview = await withPlan(core, target, ({ files, left }) =>
    Promise.resolve({ files: files.map((file) => undoneFile(file)), left }),
  );
  return { ...preview, dry_run: true };
}

/** A plan with what its changes left beside the files. */
interface WholePlan extends UndoPlan {
  readonly folders: readonly string[];
  readonly wanted: readonly LoggedChange[];
}

/** Plan an undo while no call of the session runs. */
function withPlan(
  core: SessionCore,
  target: UndoTarget,
  work: (plan: WholePlan) => Promise<UndoReply>,
): Promise<UndoReply> {
  if ('toolUseId' in target && !core.ledger.call(target.toolUseId)) {
    throw new GauntletError('not_found', `There is no call "${target.toolUseId}" in this session`);
  }
  refuseForgotten(core, target);
  return core.executor.holdFor(async () => {
    await untilLogged(core);
    const changes = await loggedChanges(core);
    const notUndone = changes.filter(({ undoneBy }) => undoneBy === undefined);
    const wanted = notUndone.filter((change) => isTargeted(core, change, target));
    if (wanted.length === 0) return { files: [], left: [] };
    const plan = await planUndo(core, wanted, notUndone);
    const folders = madeFolders(core, changes, target);
    return work({ ...plan, folders, wanted });
  });
}

/** Reject targets before the oldest frame: retention deleted those frames, and with them the record of changes. */
function refuseForgotten({ id, ledger, services }: SessionCore, target: UndoTarget): void {
  const first = services.log.bounds(id)?.first ?? 1;
  const begin = 'toolUseId' in target ? ledger.call(target.toolUseId)?.acceptedSeq : target.toSeq + 1;
  if (begin === undefined || begin >= first) return;
  throw new GauntletError('gone', `Cannot undo: the log keeps nothing before frame ${first}. Undo to a later one`, {
    details: { first },
  });
}

/** True if the target covers the change; a call covers its inner calls. */
function isTargeted(core: SessionCore, change: LoggedChange, target: UndoTarget): boolean {
  return 'toolUseId' in target ? isChangeOf(core, change, target.toolUseId) : change.seq > target.toSeq;
}

/** Wait until the frames of all calls are in the log, before it is read. */
async function untilLogged({ log }: SessionCore): Promise<void> {
  for (let turn = 0; !log.isSettled; turn++) {
    if (turn === MAX_SETTLING_TURNS)
      throw new GauntletError(
        'log_unavailable',
        'Cannot undo: what was changed is not in the log yet. Try again later',
      );
    await nextTurn();
  }
}

/**
 * List the folders created for files that are reverted now, or were reverted by an earlier undo of the same call that
 * could not remove them; innermost first.
 */
function madeFolders(core: SessionCore, changes: readonly LoggedChange[], target: UndoTarget): readonly string[] {
  const backThen = changes.filter(
    (change) => isTargeted(core, change, target) || ('toolUseId' in target && change.undoneBy !== undefined),
  );
  const folders = new Set(backThen.flatMap((change) => change.folders ?? []));
  return [...folders].sort((one, other) => other.length - one.length);
}

async function carryOut(
  core: SessionCore,
  { files, left, folders, wanted }: WholePlan,
  target: UndoTarget,
  by: string,
): Promise<UndoReply> {
  const done: UndoneFile[] = [];
  const failure = await putBackAll(core, files, done, by);
  for (const change of wanted) if (isInDoubt(core, change)) removeLeftover(core.id, change);
  for (const folder of folders) if (done.some(({ path }) => isInsideFolder(folder, path))) removeEmptyFolder(folder);
  const targetFields = 'toolUseId' in target ? { tool_use_id: target.toolUseId } : { to_seq: target.toSeq };
  const seq =
    done.length === 0 ? undefined : await core.log.emit({ type: 'undo', ...targetFields, by, files: done, left });
  if (!failure) return { seq, files: done, left };
  throw new GauntletError('conflict', `Cannot undo all of it: ${errorMessage(failure.error)}`, {
    details: { reason: 'interrupted', paths: [failure.path], restored: done.map(({ path }) => path) },
    cause: failure.error,
  });
}

/** @returns The file that failed; those before it are restored. */
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
 * Restore one file. Its current content is kept too, if there is room, so that an undo loses nothing.
 *
 * @throws {GauntletError} `tool_failed` if the file changed since it was checked, or the disk fails.
 */
async function putBack(history: FileHistory, sessionId: string, file: FilePlan): Promise<UndoneFile> {
  const { path, found, target } = file;
  const done = undoneFile(file);
  if (done.kind === 'none') return done;
  if (found.stats) await keepFile(history, sessionId, path);
  if (!target) {
    if (found.stats) removeFile(path, found.stats);
    return done;
  }
  const content = target.sha256 === undefined ? undefined : await history.read(sessionId, target.sha256);
  if (!content) throw new GauntletError('tool_failed', `Cannot restore "${path}": what was kept of it is gone`);
  const expected = found.stats ?? 'absent';
  await atomicWrite({ real: path, spelled: path, content, expected, mode: modeBits(target) });
  return done;
}

/** Describe what the undo does to a file. */
function undoneFile({ path, found, target, changes }: FilePlan): UndoneFile {
  const file = { path, changes, ...(target && { state: target }) };
  if (isSameState(found.state, target)) return { ...file, kind: 'none' };
  if (!target) return { ...file, kind: 'deleted' };
  return { ...file, kind: found.stats ? 'modified' : 'created' };
}

/** A server that dies during a write leaves the partial file under a temporary name. */
function removeLeftover(sessionId: string, { path, tool_use_id: toolUseId }: ChangeFrame): void {
  const leftover = join(dirname(path), temporaryNameOf(sessionId, toolUseId, path));
  const stats = statOf(leftover);
  if (stats?.isFile()) removeFile(leftover, stats);
}
