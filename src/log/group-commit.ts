/**
 * Group commit: all appends and notes of one turn of the event loop, of all sessions, share a transaction.
 *
 * Frames are numbered and serialised at once and written at the end of the turn. Readers are woken once the frames are
 * on disk, never before.
 */
import type { NewFrame, OpenedFrame, Seq } from '../wire/frames.ts';
import { withDiskErrors } from './disk-errors.ts';
import type { LoggedFrame, SessionNotes } from './frame-log.ts';
import { writeRow } from './frame-text.ts';
import { LogTail } from './log-tail.ts';
import { type OpenSession, type OpenSessions, wakeReaders } from './open-sessions.ts';
import type { NewRow, RowStore } from './row-store.ts';
import { atTurnEnd } from './turn-end.ts';

/** An append that waits for its commit. */
interface WaitingAppend {
  readonly session: OpenSession;
  readonly frames: readonly LoggedFrame[];
  readonly row: NewRow;
  readonly ts: string;
  readonly resolve: (head: Seq) => void;
  readonly reject: (error: unknown) => void;
}

/** Notes that wait for their commit. */
interface WaitingNotes {
  readonly session: OpenSession;
  readonly notes: SessionNotes;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Collects the appends and notes of a turn and commits them together. */
export class GroupCommit {
  readonly #store: RowStore;
  readonly #sessions: OpenSessions;
  readonly #tail: LogTail;
  /** Appends and notes of this turn of the event loop. */
  #appends: WaitingAppend[] = [];
  #notes: WaitingNotes[] = [];
  #isScheduled = false;

  /** @param tailBytes Bytes of committed rows kept in memory. */
  constructor(store: RowStore, sessions: OpenSessions, tailBytes: number) {
    this.#store = store;
    this.#sessions = sessions;
    this.#tail = new LogTail(tailBytes);
  }

  /** Append frames after the session's last one. @returns The last `seq`, once it is on disk. */
  append(session: OpenSession, frames: readonly NewFrame[]): Promise<Seq> {
    const after = session.reserved;
    const written = writeRow(frames, after + 1);
    const last = after + frames.length;
    const opened = after === 0 ? (frames[0] as OpenedFrame) : undefined;
    const row = { session: session.number, first: after + 1, last, text: written.text, opened };
    session.reserved = last;
    this.#schedule();
    return new Promise((resolve, reject) =>
      this.#appends.push({ session, frames: written.frames, row, ts: written.ts, resolve, reject }),
    );
  }

  /** Save notes. @returns Once they are on disk. */
  save(session: OpenSession, notes: SessionNotes): Promise<void> {
    this.#schedule();
    return new Promise((resolve, reject) => this.#notes.push({ session, notes, resolve, reject }));
  }

  /** Commit everything queued, then wake readers and resolve the appends. */
  flush(): void {
    const appends = this.#appends;
    const notes = this.#notes;
    this.#isScheduled = false;
    if (appends.length + notes.length === 0) return;
    this.#appends = [];
    this.#notes = [];
    try {
      withDiskErrors('append to', () => this.#commit(appends, notes));
    } catch (error) {
      this.#rejectAll(appends, notes, error);
      return;
    }
    for (const { session, frames, row, ts } of appends) {
      session.head = row.last;
      session.lastAt = ts;
      session.newBytes += row.text.length;
      this.#tail.push(session.tail, row.first, frames);
    }
    for (const { session, row, resolve } of appends) {
      wakeReaders(session);
      resolve(row.last);
    }
    for (const { resolve } of notes) resolve();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    atTurnEnd(() => this.flush());
  }

  #commit(appends: readonly WaitingAppend[], notes: readonly WaitingNotes[]): void {
    this.#store.commit(
      appends.map(({ row }) => row),
      notes.map(({ session, notes: kept }) => ({ session: session.number, notes: kept, bytes: session.newBytes })),
    );
    for (const { session, notes: kept } of notes) if (kept.snapshot) session.newBytes = 0;
  }

  /** The whole group was rolled back; the next append starts from the head on disk. */
  #rejectAll(appends: readonly WaitingAppend[], notes: readonly WaitingNotes[], error: unknown): void {
    for (const { session, reject } of appends) {
      this.#sessions.reset(session);
      reject(error);
    }
    for (const { reject } of notes) reject(error);
  }
}
