/**
 * Lists a session's changes in pages, each with a diff if both contents are still known.
 */
import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChangePage, ListedChange } from '../../wire/call-replies.ts';
import type { FileState } from '../../wire/file-change.ts';
import type { Seq } from '../../wire/frames.ts';
import { isSameState, observeFile, sha256Of } from '../../files/file-state.ts';
import { withCheckedFile } from '../../files/open-checked.ts';
import { countChanges, diffHunks, firstHunks } from '../../files/text-diff.ts';
import { isChangeOf, isInDoubt, loggedChanges, type LoggedChange } from './logged-changes.ts';
import type { SessionCore } from '../session-core.ts';

/** A file larger than this is listed without a diff. */
const MAX_DIFFED_BYTES = 1_024 * 1_024;

/** Time that all diffs of one page may take: they block the event loop. The rest is listed without. */
const MAX_DIFFS_MS = 1_000;

/** Selects changes. */
export interface ChangeQuery {
  /** Only changes after this frame. */
  readonly after: Seq;
  readonly limit: number;
  /** Only changes of one call and its inner calls. */
  readonly toolUseId?: string;
}

type DiffOrReason = Pick<ListedChange, 'diff' | 'diff_omitted'>;

/** List changes. @throws {GauntletError} `log_unavailable` */
export async function listChanges(core: SessionCore, { after, limit, toolUseId }: ChangeQuery): Promise<ChangePage> {
  const all = await withoutUnmade(core, await loggedChanges(core));
  const wanted = all.filter(
    (change) => change.seq > after && (toolUseId === undefined || isChangeOf(core, change, toolUseId)),
  );
  const page = wanted.slice(0, limit);
  const { readDenial } = core.services;
  const isDenied = readDenial(core.context.permissions, core.context.root);
  const giveUpAtMs = performance.now() + MAX_DIFFS_MS;
  const changes: ListedChange[] = [];
  for (const { type: _type, undoneBy, ...change } of page) {
    const omitted = isDenied(change.path) ? 'denied' : performance.now() > giveUpAtMs ? 'too_slow' : undefined;
    const diff: DiffOrReason = omitted ? { diff_omitted: omitted } : await diffOf(core, change);
    const name = core.ledger.call(change.tool_use_id)?.name;
    const undone = undoneBy === undefined ? { undone: false } : { undone: true, undone_by: undoneBy };
    changes.push({ ...change, ...(name === undefined ? {} : { tool_name: name }), ...undone, ...diff });
    // Computing a diff blocks the event loop, so yield between two.
    await nextTurn();
  }
  const last = page.at(-1);
  const first = core.services.log.bounds(core.id)?.first ?? 1;
  return { first, changes, ...(last && wanted.length > page.length ? { next_from_seq: last.seq } : {}) };
}

/** Leave out changes that were announced just before a crash and never made. */
async function withoutUnmade(core: SessionCore, changes: readonly LoggedChange[]): Promise<readonly LoggedChange[]> {
  const made: LoggedChange[] = [];
  for (const change of changes) {
    if (!isInDoubt(core, change) || change.undoneBy !== undefined || (await wasMade(change, changes)))
      made.push(change);
  }
  return made;
}

/** Determine whether a change was made, from the next change of its path or from the file as it is now. */
async function wasMade(change: LoggedChange, changes: readonly LoggedChange[]): Promise<boolean> {
  const next = changes.find(({ path, seq }) => path === change.path && seq > change.seq);
  const sizes = [change.before?.size_bytes, change.after?.size_bytes];
  const later = next ? next.before : (await observeFile(change.path, (bytes) => sizes.includes(bytes))).state;
  return !isSameState(later, change.before);
}

async function diffOf(
  core: SessionCore,
  { path, before, after }: Pick<LoggedChange, 'path' | 'before' | 'after'>,
): Promise<DiffOrReason> {
  if (Math.max(before?.size_bytes ?? 0, after?.size_bytes ?? 0) > MAX_DIFFED_BYTES)
    return { diff_omitted: 'too_large' };
  const [old, now] = [await contentOf(core, path, before), await contentOf(core, path, after)];
  if (!old || !now) return { diff_omitted: 'not_kept' };
  if (![old, now].every((content) => isUtf8(content) && !content.includes(0))) return { diff_omitted: 'binary' };
  const hunks = diffHunks(old.toString(), now.toString());
  return { diff: { ...countChanges(hunks), hunks: firstHunks(hunks) } };
}

/** Read the content of a state: empty, the stored copy, or the file itself if it is unchanged. */
async function contentOf(core: SessionCore, path: string, state: FileState | undefined): Promise<Buffer | undefined> {
  if (!state) return Buffer.alloc(0);
  const { sha256, size_bytes: size } = state;
  if (sha256 === undefined) return undefined;
  const kept = await core.services.history.read(core.id, sha256);
  if (kept) return kept;
  try {
    const content = await withCheckedFile(path, path, (file) => file.readWhole(size));
    return sha256Of(content) === sha256 ? content : undefined;
  } catch {
    // Changed by another writer, or unreadable: the list continues without this diff.
    return undefined;
  }
}
