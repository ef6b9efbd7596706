/**
 * The frame log: one ordered list of frames a session, and the only way out of a call.
 *
 * Two implementations stand behind it, the embedded one (SQLite) and the cluster's; one contract
 * suite runs against both.
 */
import type { Frame, NewFrame, Seq } from '../wire/frames.ts';

/** A frame with the JSON that is stored and sent: serialised once, parsed only by who must look inside. */
export interface LoggedFrame {
  readonly seq: Seq;
  readonly type: Frame['type'];
  /** The whole frame as one line of JSON, `seq` and `ts` included. */
  readonly text: string;
  /** The same, parsed on first use. */
  readonly frame: Frame;
}

/** Where a session's log begins and ends. */
export interface LogBounds {
  /** Lowest `seq` retention has left; 1 when nothing was taken. */
  readonly first: Seq;
  /** Highest `seq`. */
  readonly head: Seq;
}

/** How a session stood at a frame: what wakes it, and lists it, without the frames up to there. */
export interface Snapshot {
  /** Last frame it stands for. */
  readonly seq: Seq;
  /** JSON; the log does not look inside. */
  readonly state: unknown;
}

/** What is kept of a session beside its frames. Outlives them; goes with the session. */
export interface SessionNotes {
  /** Takes the place of the one before, unless that stands for more. */
  readonly snapshot?: Snapshot;
  /** JSON by key; each takes the place of the one before. */
  readonly facts?: readonly (readonly [key: string, value: unknown])[];
}

/** What the log knows of a session without reading its frames. */
export interface LoggedSession {
  readonly sessionId: string;
  readonly principal: string;
  readonly createdAt: string;
  readonly bounds: LogBounds;
  /** Absent until one is saved, and where it is damaged. */
  readonly snapshot?: Snapshot;
}

/** Some sessions, and how to ask for those behind them. */
export interface SessionPage<Session = LoggedSession> {
  readonly sessions: readonly Session[];
  /** Absent: there are no more. */
  readonly cursor?: string;
}

/** Which page: `cursor` as the page before gave it; without it the first. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string;
}

/** A session as retention looks at it. */
export interface WeighedSession extends Pick<LoggedSession, 'sessionId' | 'principal' | 'bounds'> {
  /** Last frame of the snapshot; 0 without one. Rows behind it must stay. */
  readonly snapshotSeq: Seq;
  /** Text of its rows, about, as of the last snapshot. */
  readonly bytes: number;
  /** `ts` of the oldest and of the newest row, ISO 8601. */
  readonly oldest: string;
  readonly newest: string;
}

/** Which of a session's oldest rows may go: those older than a time, and as many as weigh `bytes`. */
export interface TrimGoal {
  /** ISO 8601. */
  readonly olderThan: string;
  readonly bytes: number;
}

/** Frames that were acknowledged and cannot be read any more; both ends belong to the gap. */
export interface LogGap {
  readonly from: Seq;
  readonly to: Seq;
  /** Taken away on purpose, or damaged on disk. */
  readonly reason: 'retention' | 'corrupt';
}

/** How to read. */
export interface ReadOptions {
  /** True: go on with what is appended later, until `signal`. False: end at the head. */
  readonly live: boolean;
  /** Ends the iteration without an error; whoever reads live has one. */
  readonly signal?: AbortSignal;
  /**
   * Told of missing frames, after the page before them and before the page behind them, which then
   * follows. Without it damage makes the iteration throw `log_unavailable`: a reader that rebuilds state
   * must not skip frames in silence. What retention took it sees from `bounds`.
   */
  readonly onGap?: (gap: LogGap) => void;
}

/**
 * The log of all sessions.
 *
 * Everything durable about a session is here or derived from it. What `append` has resolved survives
 * the death of the process.
 */
export interface FrameLog {
  /** Identity of this history, without a dot; a new one only when acknowledged frames were lost. */
  readonly epoch: string;

  /**
   * Append frames as one row, however many.
   *
   * @param after The session's last `seq` as the caller knows it; 0 creates the session, whose first frame is `opened`.
   * @returns The `seq` of the last frame appended, once it is on disk.
   * @throws {GauntletError} `fenced` if `after` is not the head; `log_unavailable` if the disk refuses.
   */
  append(sessionId: string, after: Seq, frames: readonly NewFrame[]): Promise<Seq>;

  /**
   * Frames after `after`, in order, in pages of at most `limits.logPage`.
   *
   * A page is never empty. The iterator holds a cursor and no queue: a reader that waits costs nothing.
   * It ends when the session is removed or the log closes; a session that is not there has no pages.
   *
   * @throws {GauntletError} While iterating: `log_unavailable` if the disk refuses, or if frames are damaged and there is no `onGap`.
   */
  read(sessionId: string, after: Seq, options: ReadOptions): AsyncIterable<readonly LoggedFrame[]>;

  /** Where the session's log begins and ends; undefined when there is none. */
  bounds(sessionId: string): LogBounds | undefined;

  /** Sessions of one principal, newest first. @throws {GauntletError} `invalid_request` for a cursor that is none. */
  list(principal: string, page: PageRequest): SessionPage;

  /** The session as the log knows it; undefined when there is none. */
  find(sessionId: string): LoggedSession | undefined;

  /** Keep notes of a session; nothing happens when there is none. @returns Once they are on disk. @throws {GauntletError} `log_unavailable` */
  save(sessionId: string, notes: SessionNotes): Promise<void>;

  /** A fact that was saved; undefined when there is none, `null` when it is damaged. */
  fact(sessionId: string, key: string): unknown;

  /** All sessions, as retention looks at them, in order of creation. */
  weigh(page: PageRequest): SessionPage<WeighedSession>;

  /** Delete the oldest rows that a snapshot stands for, in small steps; the last row stays. @returns Once done. */
  trim(sessionId: string, goal: TrimGoal): Promise<void>;

  /** Bytes the log takes up, without room that deleted rows have left. */
  usedBytes(): number;

  /** Forget a session and end its readers. */
  remove(sessionId: string): Promise<void>;

  /** Flush and close; later appends reject with `shutting_down`. */
  close(): Promise<void>;
}
