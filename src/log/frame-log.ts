/**
 * The frame log: one ordered list of frames a session, and the only output of a call.
 *
 * Every implementation must pass the suite `test/src/log/frame-log-contract.ts`.
 */
import type { Frame, NewFrame, Seq } from '../wire/frames.ts';
import type { LogGap } from '../wire/session-replies.ts';

/** A frame with the JSON that is stored and sent: serialised once, parsed only where a reader needs its members. */
export interface LoggedFrame {
  readonly seq: Seq;
  readonly type: Frame['type'];
  /** The whole frame as one line of JSON, `seq` and `ts` included. */
  readonly text: string;
  /** The same, parsed on first use. */
  readonly frame: Frame;
}

/** First and last frame of a session's log. */
export interface LogBounds {
  /** Lowest `seq` that retention has kept; 1 if it deleted nothing. */
  readonly first: Seq;
  /** Highest `seq`. */
  readonly head: Seq;
}

/** State of a session at a frame: enough to load and list it without reading the frames up to there. */
export interface Snapshot {
  /** Last frame that the snapshot includes. */
  readonly seq: Seq;
  /** JSON, opaque to the log. */
  readonly state: unknown;
}

/** Data stored beside a session's frames. Outlives the frames, and is deleted with the session. */
export interface SessionNotes {
  /** Replaces the previous snapshot, unless that one has a higher `seq`. */
  readonly snapshot?: Snapshot;
  /** JSON by key; each replaces the previous value of its key. */
  readonly facts?: readonly (readonly [key: string, value: unknown])[];
}

/** Record of a session, without its frames. */
export interface LoggedSession {
  readonly sessionId: string;
  readonly principal: string;
  readonly createdAt: string;
  readonly bounds: LogBounds;
  /** Absent until one is saved, and where it is damaged. */
  readonly snapshot?: Snapshot;
}

/** One page of a list of sessions. */
export interface SessionPage<Session = LoggedSession> {
  readonly sessions: readonly Session[];
  /** Pass it to get the next page; absent if there are no more. */
  readonly cursor?: string;
}

/** Requested page: `cursor` from the page before, or none for the first. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string;
}

/** Age and size of a session, for retention. */
export interface WeighedSession extends Pick<LoggedSession, 'sessionId' | 'principal' | 'bounds'> {
  /** Last frame of the snapshot; 0 without one. Rows after it must stay. */
  readonly snapshotSeq: Seq;
  /** Approximate bytes of its rows, as of the last snapshot. */
  readonly bytes: number;
  /** `ts` of the oldest and of the newest row, ISO 8601. */
  readonly oldest: string;
  readonly newest: string;
}

/** Rows that a trim may delete, oldest first: those older than `olderThan`, and as many as free `bytes`. */
export interface TrimGoal {
  /** ISO 8601. */
  readonly olderThan: string;
  readonly bytes: number;
}

/** Options of reading. */
export interface ReadOptions {
  /** True: continue with frames that are appended later, until `signal` aborts. False: end at the head. */
  readonly live: boolean;
  /** Ends the iteration without an error. Live readers pass one. */
  readonly signal?: AbortSignal;
  /**
   * Called for each gap, after the page before it and before the page that follows. Without it, damage makes the
   * iteration throw `log_unavailable`: a reader that rebuilds state must not skip frames silently. A gap left by
   * retention does not throw; such a reader checks `bounds`.
   */
  readonly onGap?: (gap: LogGap) => void;
}

/**
 * The log of all sessions.
 *
 * Everything durable about a session is here or derived from it. Frames whose `append` has resolved survive the death
 * of the process.
 */
export interface FrameLog {
  /** Identity of this history, without a dot; changes only when acknowledged frames were lost. */
  readonly epoch: string;

  /**
   * Append frames as one row, however many there are.
   *
   * @param after Last `seq` that the caller has seen; 0 creates the session, whose first frame is `opened`.
   * @returns The `seq` of the last frame appended, once it is on disk.
   * @throws {GauntletError} `fenced` if `after` is not the head; `log_unavailable` if the disk fails.
   */
  append(sessionId: string, after: Seq, frames: readonly NewFrame[]): Promise<Seq>;

  /**
   * Read frames after `after`, in order, in pages of at most `LOG_BOUNDS.pageFrames`.
   *
   * A page is never empty. The iterator holds a cursor and no queue, so a waiting reader buffers nothing. It ends when
   * the session is removed or the log closes; an unknown session has no pages.
   *
   * @throws {GauntletError} While iterating: `log_unavailable` if the disk fails, or if frames are damaged and there is
   *   no `onGap`.
   */
  read(sessionId: string, after: Seq, options: ReadOptions): AsyncIterable<readonly LoggedFrame[]>;

  /** First and last frame of the session; `undefined` if there is no such session. */
  bounds(sessionId: string): LogBounds | undefined;

  /** Time of the session's newest row, ISO 8601; `undefined` if there is no such session. */
  lastAt(sessionId: string): string | undefined;

  /** Sessions of one principal, newest first. @throws {GauntletError} `invalid_request` for a malformed cursor. */
  list(principal: string, page: PageRequest): SessionPage;

  /** Record of the session; `undefined` if there is none. */
  find(sessionId: string): LoggedSession | undefined;

  /**
   * Save notes of a session; a no-op for an unknown session.
   *
   * @returns Once they are on disk.
   * @throws {GauntletError} `log_unavailable`
   */
  save(sessionId: string, notes: SessionNotes): Promise<void>;

  /** Read a saved fact: `undefined` if it was never saved, `null` if it is damaged. */
  fact(sessionId: string, key: string): unknown;

  /** Age and size of all sessions, in order of creation. */
  weigh(page: PageRequest): SessionPage<WeighedSession>;

  /** Delete the oldest rows that the snapshot includes, in small steps; the last row stays. @returns Once done. */
  trim(sessionId: string, goal: TrimGoal): Promise<void>;

  /** Bytes of the log's pages in use, without free pages that deleted rows left. */
  usedBytes(): number;

  /** Number of sessions. */
  sessionCount(): number;

  /** Delete a session and end its readers. */
  remove(sessionId: string): Promise<void>;

  /** Flush and close; later appends reject with `shutting_down`. */
  close(): Promise<void>;
}
