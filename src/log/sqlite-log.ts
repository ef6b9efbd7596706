/**
 * The embedded log: SQLite behind the `FrameLog` interface.
 *
 * An append is numbered and serialised at once and written at the end of this turn of the event loop,
 * together with all others of the turn. Readers are woken when it is on disk, never before.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Limits } from '../../config/limits.ts';
import { GauntletError, errorMessage, isGauntletError } from '../contract/errors.ts';
import type { NewFrame, OpenedFrame, Seq } from '../contract/frames.ts';
import type { FrameLog, LogBounds, LogGap, LoggedFrame, LoggedSession, ReadOptions } from './frame-log.ts';
import { numberFrames, rowText } from './frame-text.ts';
import type { OnLogProblem } from './log-problem.ts';
import { LogTail } from './log-tail.ts';
import { openDatabase, type Durability } from './open-database.ts';
import { OpenSessions, wakeReaders, type OpenSession } from './open-sessions.ts';
import { readSession } from './read-session.ts';
import { RowStore, type NewRow } from './row-store.ts';

/** How to open the embedded log. */
export interface SqliteLogOptions {
  /** Absolute; exists, and belongs to this server alone. */
  readonly folder: string;
  readonly limits: Pick<Limits, `log${string}` & keyof Limits>;
  readonly durability: Durability;
  /** Told of damage; by default nobody is. */
  readonly onProblem?: OnLogProblem;
}

/**
 * Open the log in `folder`, or begin it.
 *
 * @throws {GauntletError} `log_unavailable` if the disk refuses; `invalid_setting` if a newer version wrote the log.
 */
export function openSqliteLog(options: SqliteLogOptions): FrameLog {
  return new SqliteLog(options);
}

/** An append between its call and its commit. */
interface WaitingAppend {
  readonly session: OpenSession;
  readonly frames: readonly LoggedFrame[];
  readonly row: NewRow;
  readonly resolve: (head: Seq) => void;
  readonly reject: (error: unknown) => void;
}

class SqliteLog implements FrameLog {
  readonly epoch: string;
  readonly #limits: SqliteLogOptions['limits'];
  readonly #onProblem: OnLogProblem;
  readonly #store: RowStore;
  readonly #sessions: OpenSessions;
  readonly #tail: LogTail;
  /** The appends of this turn of the event loop. */
  #group: WaitingAppend[] = [];
  #isClosed = false;
  /** Removals that delete rows; `close` waits for them to stop. */
  readonly #sweeps = new Set<Promise<void>>();
  /** Damaged rows that were reported, by session and end; forgotten with the process. */
  readonly #reported = new Set<string>();
  #isMarkReported = false;

  constructor({ folder, limits, durability, onProblem = () => undefined }: SqliteLogOptions) {
    this.#limits = limits;
    this.#onProblem = onProblem;
    const open = openDatabase({ folder, durability, maxBytes: limits.logFileBytes, onProblem });
    this.epoch = open.epoch;
    this.#store = new RowStore(open, (cause) => this.#reportMark(cause));
    this.#sessions = new OpenSessions(this.#store, limits.logHeads);
    this.#tail = new LogTail(limits.logTailBytes);
    void this.#sweep(() => this.#store.forgotten());
  }

  append(sessionId: string, after: Seq, frames: readonly NewFrame[]): Promise<Seq> {
    return new Promise((resolve, reject) => {
      this.#refuseIfClosed();
      const session = this.#sessionToAppendTo(sessionId, after, frames);
      const lines = numberFrames(frames, after + 1);
      const last = after + lines.length;
      const opened = after === 0 ? (frames[0] as OpenedFrame) : undefined;
      const row = { session: session.number, first: after + 1, last, text: rowText(lines), opened };
      session.reserved = last;
      // The check phase follows the poll phase: what all sockets brought in this turn is one group.
      if (this.#group.push({ session, frames: lines, row, resolve, reject }) === 1) setImmediate(() => this.#flush());
    });
  }

  read(sessionId: string, after: Seq, options: ReadOptions): AsyncIterable<readonly LoggedFrame[]> {
    const source = {
      pageFrames: this.#limits.logPage,
      session: () => (this.#isClosed ? undefined : this.#ask('read', () => this.#sessions.get(sessionId))),
      rowsAfter: ({ number }: OpenSession, seq: Seq) =>
        this.#ask('read', () => this.#store.rowsAfter(number, seq, this.#limits.logPageRows)),
      onGap: (gap: LogGap) => this.#reportGap(sessionId, gap),
    };
    return readSession(source, after, options);
  }

  bounds(sessionId: string): LogBounds | undefined {
    // A session at hand is answered for from memory, when the log is closed or the disk broken too.
    const session = this.#ask('read', () => this.#sessions.get(sessionId));
    return session === undefined || session.head === 0 ? undefined : { first: session.first, head: session.head };
  }

  list(
    principal: string,
    { limit, before }: { readonly limit: number; readonly before?: string },
  ): readonly LoggedSession[] {
    this.#refuseIfClosed();
    const entries = this.#ask('list sessions of', () => this.#store.list(principal, limit, before));
    return entries.map(loggedSession);
  }

  find(sessionId: string): LoggedSession | undefined {
    this.#refuseIfClosed();
    const entry = this.#ask('read', () => this.#store.session(sessionId));
    return entry && loggedSession(entry);
  }

  async remove(sessionId: string): Promise<void> {
    this.#refuseIfClosed();
    this.#flush();
    const session = this.#ask('read', () => this.#sessions.get(sessionId));
    if (session === undefined) return;
    this.#ask('remove a session from', () => this.#store.forget(session.number));
    this.#sessions.drop(session);
    await this.#sweep(() => [session.number]);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#flush();
    this.#isClosed = true;
    this.#sessions.wakeAll();
    await Promise.all(this.#sweeps);
    this.#ask('close', () => this.#store.close());
  }

  #sessionToAppendTo(sessionId: string, after: Seq, frames: readonly NewFrame[]): OpenSession {
    const [first] = frames;
    if (first === undefined) throw new RangeError('Cannot append no frames');
    const known = this.#ask('append to', () => this.#sessions.get(sessionId));
    const head = known?.reserved ?? 0;
    if (head !== after) {
      throw new GauntletError(
        'fenced',
        `Cannot append to session "${sessionId}" after ${after}: its log ends at ${head}. Read it again first`,
      );
    }
    if (known !== undefined) return known;
    if (first.type !== 'opened')
      throw new TypeError(`Cannot begin session "${sessionId}" with a frame "${first.type}"`);
    return this.#sessions.create(sessionId);
  }

  /** Write the group; then readers, then appenders learn of it. */
  #flush(): void {
    const group = this.#group;
    if (group.length === 0) return;
    this.#group = [];
    try {
      this.#ask('append to', () => this.#store.commit(group.map(({ row }) => row)));
    } catch (error) {
      this.#fail(group, error);
      return;
    }
    for (const { session, frames, row } of group) {
      session.head = row.last;
      this.#tail.push(session.tail, row.first, frames);
    }
    for (const { session, row, resolve } of group) {
      wakeReaders(session);
      resolve(row.last);
    }
  }

  /** Nothing of the group landed; the next append tries anew. */
  #fail(group: readonly WaitingAppend[], error: unknown): void {
    for (const { session, reject } of group) {
      this.#sessions.reset(session);
      reject(error);
    }
  }

  /** Delete the rows of forgotten sessions, some each turn; the next start goes on where this one stops. */
  #sweep(forgotten: () => readonly number[]): Promise<void> {
    const sweep = this.#sweepRows(forgotten).finally(() => this.#sweeps.delete(sweep));
    this.#sweeps.add(sweep);
    return sweep;
  }

  async #sweepRows(forgotten: () => readonly number[]): Promise<void> {
    try {
      for (const session of forgotten()) {
        while (!this.#isClosed && this.#store.sweep(session, this.#limits.logSweepRows)) await nextTurn();
      }
    } catch (cause) {
      // The session is forgotten already; its rows only take up room until the next start.
      this.#onProblem({
        code: 'sweep_failed',
        message: `Cannot delete the rows of removed sessions: ${errorMessage(cause)}`,
        cause,
      });
    }
  }

  /** What SQLite throws becomes the one error clients know. */
  #ask<Answer>(action: string, work: () => Answer): Answer {
    try {
      return work();
    } catch (cause) {
      if (isGauntletError(cause)) throw cause;
      throw new GauntletError('log_unavailable', `Cannot ${action} the log: ${errorMessage(cause)}. Try again later`, {
        cause,
      });
    }
  }

  #refuseIfClosed(): void {
    if (this.#isClosed)
      throw new GauntletError('shutting_down', 'Cannot use the log: it is closed. Connect again later');
  }

  #reportGap(sessionId: string, { from, to }: LogGap): void {
    const key = `${sessionId} ${to}`;
    if (this.#reported.has(key) || this.#reported.size >= this.#limits.logPage) return;
    this.#reported.add(key);
    const message = `Frames ${from} to ${to} of session "${sessionId}" are damaged and cannot be read`;
    this.#onProblem({ code: 'frames_corrupt', message, sessionId, from, to });
  }

  #reportMark(cause: unknown): void {
    if (this.#isMarkReported) return;
    this.#isMarkReported = true;
    this.#onProblem({
      code: 'high_water_unwritable',
      message: `Cannot write the log's high-water mark: ${errorMessage(cause)}`,
      cause,
    });
  }
}

/** Without the number it has in the tables. */
function loggedSession({ sessionId, principal, createdAt, bounds }: LoggedSession): LoggedSession {
  return { sessionId, principal, createdAt, bounds };
}
