/**
 * What a session changed, as its log says: read when somebody asks, kept nowhere else.
 */
import type { ChangeFrame, Frame, Seq, UndoFrame } from '../../wire/frames.ts';
import { isSameState } from '../../files/file-state.ts';
import { isInterrupted } from '../call-record.ts';
import type { SessionCore } from '../session-core.ts';

/** A change that was logged. */
export interface LoggedChange extends ChangeFrame {
  /** Where it was announced. */
  readonly seq: Seq;
  readonly ts: string;
  /** The undo that took it back. */
  readonly undoneBy?: Seq;
}

/**
 * All changes of a session, oldest first; those taken back by an undo included, those that were never made not.
 *
 * @throws {GauntletError} `log_unavailable`, also where frames are damaged: what they said is not guessed.
 */
export async function loggedChanges(core: SessionCore): Promise<readonly LoggedChange[]> {
  const changes = new ChangeFold();
  for await (const page of core.services.log.read(core.id, 0, { live: false })) {
    for (const logged of page) if (logged.type === 'change' || logged.type === 'undo') changes.push(logged.frame);
  }
  return changes.made;
}

/** Whether a crash cut the change's call off: then it may have been announced and never made. */
export function isInDoubt(core: SessionCore, { tool_use_id }: LoggedChange): boolean {
  const call = core.ledger.call(tool_use_id);
  return call !== undefined && isInterrupted(call);
}

/** Whether a call made a change: itself, or by one of its inner calls. */
export function isChangeOf({ ledger }: SessionCore, { tool_use_id }: LoggedChange, toolUseId: string): boolean {
  for (let id: string | undefined = tool_use_id; id !== undefined; id = ledger.call(id)?.parentId) {
    if (id === toolUseId) return true;
  }
  return false;
}

class ChangeFold {
  readonly #changes: LoggedChange[] = [];
  /** Place of the last change of a call to a path. */
  readonly #places = new Map<string, number>();
  readonly #undoneBy = new Map<Seq, Seq>();

  push(frame: Frame): void {
    if (frame.type === 'change') this.#add(frame);
    if (frame.type === 'undo') this.#takeBack(frame);
  }

  get made(): readonly LoggedChange[] {
    return this.#changes.flatMap((change) => {
      const undoneBy = this.#undoneBy.get(change.seq);
      return change.kind === 'none' ? [] : [undoneBy === undefined ? change : { ...change, undoneBy }];
    });
  }

  #add(change: LoggedChange): void {
    const key = `${change.tool_use_id} ${change.path}`;
    const place = this.#places.get(key);
    const known = place === undefined ? undefined : this.#changes[place];
    // The same change told again, better; a call may also change one file twice.
    if (place !== undefined && known && isSameState(known.before, change.before)) {
      this.#changes[place] = { ...change, seq: known.seq, ts: known.ts };
      return;
    }
    this.#places.set(key, this.#changes.push(change) - 1);
  }

  #takeBack(undo: UndoFrame & { readonly seq: Seq }): void {
    for (const seq of undo.files.flatMap(({ changes }) => changes)) this.#undoneBy.set(seq, undo.seq);
  }
}
