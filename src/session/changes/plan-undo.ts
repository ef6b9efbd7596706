/**
 * Plans an undo: determines the target of each file, and checks that no other writer changed it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FileChange, FileState } from '../../wire/file-change.ts';
import { GauntletError } from '../../base/errors.ts';
import type { Seq, UndoFrame } from '../../wire/frames.ts';
import { isSameState, observeFile, type ObservedFile } from '../../files/file-state.ts';
import { writeDenial } from '../../permissions/path-gate.ts';
import type { LoggedChange } from './logged-changes.ts';
import type { SessionCore } from '../session-core.ts';

/** One file to restore. */
export interface FilePlan {
  readonly path: string;
  readonly found: ObservedFile;
  /** Target state; absent: the file is to be removed. */
  readonly target?: FileState;
  readonly changes: readonly Seq[];
}

/** All files to restore, most recently changed first, and those that are left as they are. */
export interface UndoPlan {
  readonly files: readonly FilePlan[];
  readonly left: UndoFrame['left'];
}

type Answer =
  FilePlan | { readonly path: string; readonly left: string } | { readonly path: string; readonly isForeign: true };

/**
 * Plan to revert `wanted`.
 *
 * @param notUndone All changes of the session that were not reverted.
 * @throws {GauntletError} `forbidden`, or `conflict` with the conflicting paths.
 */
export async function planUndo(
  core: SessionCore,
  wanted: readonly LoggedChange[],
  notUndone: readonly LoggedChange[],
): Promise<UndoPlan> {
  const byPath = groupByPath(wanted);
  refuseDenied(core, [...byPath.keys()]);
  refuseChangedLater(wanted, notUndone);
  const answers: Answer[] = [];
  for (const [path, changes] of byPath) {
    answers.push(await planFile(core, path, changes));
    await nextTurn();
  }
  const foreign = answers.flatMap((answer) => ('isForeign' in answer ? answer.path : []));
  if (foreign.length > 0) {
    throw conflict('changed_since', foreign, 'was changed since by someone else. Inspect it, and change it by hand');
  }
  const left = answers.flatMap((answer) => ('left' in answer ? { path: answer.path, reason: answer.left } : []));
  const files = answers.filter((answer): answer is FilePlan => 'found' in answer);
  if (files.length === 0) {
    throw conflict(
      'not_undoable',
      left.map(({ path }) => path),
      'cannot be put back: what it was before is not known or not ours',
    );
  }
  return { files, left };
}

async function planFile(core: SessionCore, path: string, changes: readonly LoggedChange[]): Promise<Answer> {
  const { history, locate, sessionFolder } = core.services;
  const stuck = changes.find(({ undoable }) => !undoable);
  if (stuck) return { path, left: stuck.reason ?? 'not_kept' };
  const target = changes[0]?.before;
  if (target && (target.sha256 === undefined || !history.has(core.id, target.sha256)))
    return { path, left: 'not_kept' };
  const located = await locate(
    { path, access: 'write' },
    { session: core.context, sessionFolder: sessionFolder(core.id) },
  );
  // A link has replaced the file or a folder of its path.
  if (located.refusal !== undefined || located.real !== path) return { path, isForeign: true };
  const sizes = new Set(changes.flatMap(({ before, after }) => [before?.size_bytes, after?.size_bytes]));
  const found = await observeFile(path, (sizeBytes) => sizes.has(sizeBytes));
  if (!leadsTo(found.state, changes)) return { path, isForeign: true };
  return { path, found, target, changes: changes.map(({ seq }) => seq) };
}

/**
 * True if reverting the changes one by one from the current state leads to the state before the first of them. Each
 * change must begin where the one before ended: changes of other writers in between must not be reverted.
 */
function leadsTo(found: FileState | undefined, changes: readonly FileChange[]): boolean {
  if (isSameState(found, changes[0]?.before)) return true;
  let state = found;
  for (const { before, after } of changes.toReversed()) {
    if (isSameState(state, after)) state = before;
    // Announced and never made, because the server died in between.
    else if (!isSameState(state, before)) return false;
  }
  return true;
}

function refuseDenied({ context }: SessionCore, paths: readonly string[]): void {
  const isDenied = writeDenial(context.permissions, context.root);
  const denied = paths.filter(isDenied);
  if (denied.length === 0) return;
  throw new GauntletError('forbidden', `Cannot undo: a rule of this session forbids changing "${denied[0]}"`, {
    details: { reason: 'denied', paths: denied },
  });
}

function refuseChangedLater(wanted: readonly LoggedChange[], notUndone: readonly LoggedChange[]): void {
  const own = new Set(wanted);
  const later = notUndone.filter(
    (change) => !own.has(change) && wanted.some(({ path, seq }) => path === change.path && seq < change.seq),
  );
  if (later.length === 0) return;
  const ids = [...new Set(later.map(({ tool_use_id }) => tool_use_id))];
  const paths = [...new Set(later.map(({ path }) => path))];
  throw conflict('changed_later', paths, 'was changed again by a later call. Undo with "to_seq" takes both', {
    tool_use_ids: ids,
  });
}

function conflict(reason: string, paths: readonly string[], why: string, more: object = {}): GauntletError {
  const others = paths.length > 1 ? ` and ${paths.length - 1} more` : '';
  return new GauntletError('conflict', `Cannot undo: "${paths[0] ?? ''}"${others} ${why}`, {
    details: { reason, paths, ...more },
  });
}

/** Group by path, most recently changed first. */
function groupByPath(changes: readonly LoggedChange[]): ReadonlyMap<string, readonly LoggedChange[]> {
  const byPath = new Map<string, LoggedChange[]>();
  for (const { path } of changes.toReversed()) byPath.set(path, []);
  for (const change of changes) byPath.get(change.path)?.push(change);
  return byPath;
}
