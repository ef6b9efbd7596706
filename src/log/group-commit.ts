/**
 * Group commit: what all sessions append and save in one turn of the event loop is one transaction.
 *
 * Frames are numbered and serialised at once and written at the end of the turn. Readers are woken when
 * they are on disk, never before.
 */
import type { NewFrame, OpenedFrame, Seq } from '../wire/frames.ts';
import { askDisk } from './ask-disk.ts';
import type { LoggedFrame, SessionNotes } from './frame-log.ts';
import { writeRow } from './frame-text.ts';
import { LogTail } from './log-tail.ts';
import { type OpenSession, type OpenSessions, wakeReaders } from './open-sessions.ts';
import type { NewRow, RowStore } from './row-store.ts';
import { atTurnEnd } from './turn-end.ts';

/** An append between its call and its commit. */
interface WaitingAppend {
  readonly session: OpenSession;
  readonly frames: readonly LoggedFrame[];
  readonly row: NewRow;
  readonly resolve: (head: Seq) => void;
  readonly reject: (error: unknown) => void;
}

/** Notes between their saving and their commit. */
interface WaitingNotes {
  readonly session: OpenSession;
  readonly notes: SessionNotes;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Gathers a turn's appends and notes and commits them together. */
export class GroupCommit {
  readonly #store: RowStore;
  readonly #sessions: OpenSessions;
  readonly #tail: LogTail;
  /** The appends of this turn of the event loop, and the notes. */
  #appends: WaitingAppend[] = [];
  #notes: WaitingNotes[] = [];
  #isScheduled = false;

  /** @param tailBytes Bytes of committed rows kept in memory. */
  constructor(store: RowStore, sessions: OpenSessions, tailBytes: number) {
    this.#store = store;
    this.#sessions = sessions;
    this.#tail = new LogTail(tailBytes);
  }

  /** Append frames behind all that the session has. @returns The last `seq`, once it is on disk. */
  append(session: OpenSession, frames: readonly NewFrame[]): Promise<Seq> {
    const after = session.reserved;
    const written = writeRow(frames, after + 1);
    const last = after + frames.length;
    const opened = after === 0 ? (frames[0] as OpenedFrame) : undefined;
    const row = { session: session.number, first: after + 1, last, text: written.text, opened };
    session.reserved = last;
    this.#schedule();
    return new Promise((resolve, reject) =>
      this.#appends.push({ session, frames: written.frames, row, resolve, reject }),
    );
  }

  /** Keep notes. @returns Once they are on disk. */
  save(session: OpenSession, notes: SessionNotes): Promise<void> {
    this.#schedule();
    return new Promise((resolve, reject) => this.#notes.push({ session, notes, resolve, reject }));
  }

  /** Write what waits; then readers, then appenders learn of it. */
  flush(): void {
    const appends = this.#appends;
    const notes = this.#notes;
    this.#isScheduled = false;
    if (appends.length + notes.length === 0) return;
    this.#appends = [];
    this.#notes = [];
    try {
      askDisk('append to', () => this.#commit(appends, notes));
    } catch (error) {
      this.#refuse(appends, notes, error);
      return;
    }
    for (const { session, frames, row } of appends) {
      session.head = row.last;
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

  /** Nothing of the group landed; the next append tries anew. */
  #refuse(appends: readonly WaitingAppend[], notes: readonly WaitingNotes[], error: unknown): void {
    for (const { session, reject } of appends) {
      this.#sessions.reset(session);
      reject(error);
    }
    for (const { reject } of notes) reject(error);
  }
}
