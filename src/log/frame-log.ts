/**
 * The frame log: one ordered list of frames a session, and the only way out of a call.
 *
 * Two implementations stand behind it, the embedded one (SQLite) and the cluster's; one contract
 * suite runs against both.
 */
import type { Frame, NewFrame, Seq } from '../contract/frames.ts';

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

/** What the log keeps of a session beside its frames: enough to list it without reading them. */
export interface LoggedSession {
  readonly sessionId: string;
  readonly principal: string;
  readonly createdAt: string;
  readonly bounds: LogBounds;
}

/** Frames that were acknowledged and cannot be read any more; both ends belong to the gap. */
export interface LogGap {
  readonly from: Seq;
  readonly to: Seq;
}

/** How to read. */
export interface ReadOptions {
  /** True: go on with what is appended later, until `signal`. False: end at the head. */
  readonly live: boolean;
  /** Ends the iteration without an error. */
  readonly signal: AbortSignal;
  /**
   * Told of damaged frames, after the page before them and before the page behind them, which then
   * follows. Without it the iteration throws `log_unavailable`: a reader that rebuilds state must not
   * skip frames in silence.
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

  /** Sessions of one principal, newest first, at most `limit`, created before `before` (a session id) when given. */
  list(principal: string, page: { readonly limit: number; readonly before?: string }): readonly LoggedSession[];

  /** The session as the log knows it; undefined when there is none. */
  find(sessionId: string): LoggedSession | undefined;

  /** Forget a session and end its readers. */
  remove(sessionId: string): Promise<void>;

  /** Flush and close; later appends reject with `shutting_down`. */
  close(): Promise<void>;
}
