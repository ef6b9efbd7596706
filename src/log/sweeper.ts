/**
 * Deletes rows of removed sessions, and old rows of sessions that stay. Each turn of the event loop runs one small
 * step, so that no append waits for long.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Seq } from '../wire/frames.ts';
import type { TrimGoal } from './frame-log.ts';
import type { NoteStore } from './note-store.ts';
import type { RetentionStore } from './retention-store.ts';
import type { RowStore } from './row-store.ts';

/** Tables to delete from, and the size of a step. */
export interface SweeperParts {
  readonly rows: RowStore;
  readonly notes: NoteStore;
  readonly retention: RetentionStore;
  readonly bounds: { readonly sweepRows: number; readonly sweepBytes: number };
  /** Called when a deletion failed; the next start tries again. */
  onFailed(cause: unknown): void;
}

/** A session whose oldest rows are deleted. */
export interface TrimmedSession {
  readonly number: number;
  /** Last frame whose row may be deleted. */
  readonly upTo: Seq;
  readonly goal: TrimGoal;
  /** Called after each step with the lowest `seq` that is left. */
  onFirst(first: Seq): void;
}

const EVERYTHING: TrimGoal = { olderThan: '', bytes: Number.POSITIVE_INFINITY };

/** Runs deletions until it is stopped. */
export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #running = new Set<Promise<void>>();
  #isStopped = false;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  /**
   * Delete everything that removed sessions left.
   *
   * @param forgotten Lists their numbers; its errors go to `onFailed` too.
   */
  sweep(forgotten: () => readonly number[]): Promise<void> {
    return this.#run(async () => {
      for (const session of forgotten()) await this.#sweepSession(session);
    });
  }

  /** Delete the oldest rows of a session. */
  trim(session: TrimmedSession): Promise<void> {
    return this.#run(() => this.#trim(session));
  }

  /** Stop. @returns Once the current steps are done; no others follow. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  #run(work: () => Promise<void>): Promise<void> {
    const running: Promise<void> = work()
      .catch((error: unknown) => this.#parts.onFailed(error))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  async #sweepSession(session: number): Promise<void> {
    const { rows, notes, bounds } = this.#parts;
    await this.#trim({ number: session, upTo: Number.MAX_SAFE_INTEGER, goal: EVERYTHING, onFirst: () => undefined });
    while (!this.#isStopped && notes.sweep(session, bounds.sweepRows)) await nextTurn();
    if (!this.#isStopped) rows.delete(session);
  }

  async #trim({ number, upTo, goal, onFirst }: TrimmedSession): Promise<void> {
    const { retention, notes, bounds } = this.#parts;
    const step = { rows: bounds.sweepRows, bytes: bounds.sweepBytes };
    for (let remainingBytes = goal.bytes, isMore = true; isMore && !this.#isStopped;) {
      const trimmed = retention.trim(number, upTo, { ...goal, bytes: remainingBytes }, step);
      if (trimmed.first === undefined) return;
      onFirst(trimmed.first);
      notes.reduceSize(number, trimmed.bytes);
      remainingBytes -= trimmed.bytes;
      isMore = trimmed.isMore;
      if (isMore) await nextTurn();
    }
  }
}
