/**
 * Reads a session's changes from its log on demand; they are not cached.
 */
import type { ChangeFrame, Frame, Seq, UndoFrame } from '../../wire/frames.ts';
import { isSameState } from '../../files/file-state.ts';
import type { SessionCore } from '../session-core.ts';

/** A change in the log. */
export interface LoggedChange extends ChangeFrame {
  /** `seq` of its announcement. */
  readonly seq: Seq;
  readonly ts: string;
  /** `seq` of the undo that reverted it. */
  readonly undoneBy?: Seq;
}

/**
 * Read all changes of a session, oldest first, including reverted ones and excluding those reported as not made.
 *
 * @throws {GauntletError} `log_unavailable`, also if frames are damaged: their content is not guessed.
 */
export async function loggedChanges(core: SessionCore): Promise<readonly LoggedChange[]> {
  const changes = new ChangeFold();
  for await (const page of core.services.log.read(core.id, 0, { live: false })) {
    for (const logged of page) if (logged.type === 'change' || logged.type === 'undo') changes.push(logged.frame);
  }
  return changes.made;
}

/** True if a crash interrupted the change's call, so that it may have been announced and never made. */
export function isInDoubt(core: SessionCore, { tool_use_id }: LoggedChange): boolean {
  return core.ledger.call(tool_use_id)?.wasInterrupted === true;
}

/** True if a call made the change itself or through one of its inner calls. */
export function isChangeOf({ ledger }: SessionCore, { tool_use_id }: LoggedChange, toolUseId: string): boolean {
  for (let id: string | undefined = tool_use_id; id !== undefined; id = ledger.call(id)?.parentId) {
    if (id === toolUseId) return true;
  }
  return false;
}

class ChangeFold {
  readonly #changes: LoggedChange[] = [];
  /** Index of the last change of a call to a path. */
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
    // An id may hold spaces, but no line end.
    const key = `${change.tool_use_id}\n${change.path}`;
    const place = this.#places.get(key);
    const known = place === undefined ? undefined : this.#changes[place];
    // An update of the same change replaces it; a call may also change one file twice.
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
