/**
 * A session's access to the frame log: tracks the head, and combines the frames of one turn of the event loop into one
 * row.
 */
import type { NewFrame, Seq } from '../wire/frames.ts';
import { GauntletError, isGauntletError } from '../base/errors.ts';
import type { FrameLog } from '../log/frame-log.ts';
import { atTurnEnd } from '../log/turn-end.ts';

/** Wait before frames that must not be lost, and that the disk refused, are tried again. */
const RETRY_MS = 50;

/** The longest such wait. */
const MAX_RETRY_MS = 1_000;

/** Factor by which each wait is longer than the one before. */
const RETRY_GROWTH = 5;

/** Dependencies of a session's log. */
export interface SessionLogParts {
  readonly log: FrameLog;
}

/** Frames being written, with the callbacks for their outcome. */
export interface Emission {
  readonly frames: readonly NewFrame[];
  /** Called with the `seq` of the first frame, in the same step in which `head` moves past them. */
  readonly landed: (first: Seq) => void;
  /** Called if none of the frames was written. */
  readonly refused: (error: unknown) => void;
}

/** Frames that must not be lost. */
interface Insisted {
  /** Sequence number: the order in which they must be written. */
  readonly place: number;
  readonly frames: readonly NewFrame[];
  readonly isWanted: () => boolean;
  readonly landed: (first: Seq) => void;
}

/** Writer of a session's frames. */
export class SessionLog {
  readonly #log: FrameLog;
  readonly #sessionId: string;
  /** Position of the next row, after those being written. `undefined` after a failed row: the log must be queried. */
  #next: Seq | undefined;
  #head: Seq;
  #pending: Emission[] = [];
  #rowsOnTheirWay = 0;
  /** Number of failed rows; rows that were sent before a failure fail with it, since their numbers follow it. */
  #failures = 0;
  /** Rejected frames that must not be lost, in order; all later ones wait behind them. */
  #backlog: Insisted[] = [];
  #insisted = 0;
  #retries = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isTakenOver = false;

  constructor({ log }: SessionLogParts, sessionId: string, head: Seq) {
    this.#log = log;
    this.#sessionId = sessionId;
    this.#next = head;
    this.#head = head;
  }

  /** Highest `seq` on disk. Frames whose callbacks have not run yet come after it. */
  get head(): Seq {
    return this.#head;
  }

  /** True if no frame is being written or waits for a retry. */
  get isSettled(): boolean {
    return this.#pending.length === 0 && this.#rowsOnTheirWay === 0 && this.#backlog.length === 0;
  }

  /** True once another process owns the session: the state here is outdated. */
  get isTakenOver(): boolean {
    return this.#isTakenOver;
  }

  /**
   * Write frames to the log.
   *
   * @returns The `seq` of the first of them, once they are on disk.
   * @throws {GauntletError} `log_unavailable`, `fenced`: none of them was written.
   */
  emit(...frames: readonly NewFrame[]): Promise<Seq> {
    return new Promise((landed, refused) => this.send({ frames, landed, refused }));
  }

  /** Write frames without waiting for the outcome; a failure only reduces what viewers see. */
  tell(...frames: readonly NewFrame[]): void {
    this.send({ frames, landed: ignore, refused: ignore });
  }

  /** As `emit`, for callers that must handle the outcome in the same step. */
  send(emission: Emission): void {
    // A short call begins and ends within one turn of the event loop, so all its frames are one row.
    if (this.#pending.push(emission) === 1) atTurnEnd(() => this.#flush());
  }

  /**
   * Write frames that must not be lost: retried, in order, until the disk accepts them.
   *
   * @param isWanted Checked before a retry: false drops them.
   * @param landed Called once with the `seq` of the first frame, when they are on disk.
   */
  insist(frames: readonly NewFrame[], isWanted: () => boolean, landed: (first: Seq) => void): void {
    const insisted = { place: this.#insisted++, frames, isWanted, landed };
    if (this.#backlog.length > 0) this.#backlog.push(insisted);
    else this.#sendInsisted(insisted);
  }

  /** Stop retrying: the session was removed or taken over. */
  close(): void {
    this.#isClosed = true;
    this.#backlog = [];
    clearTimeout(this.#retryTimer);
  }

  #flush(): void {
    const row = this.#pending;
    this.#pending = [];
    const frames = row.flatMap((emission) => emission.frames);
    const failuresBefore = this.#failures;
    this.#rowsOnTheirWay++;
    this.#append(frames).then(
      (last) => this.#landed(row, last - frames.length + 1, last),
      (error: unknown) => this.#refused(row, error, failuresBefore),
    );
  }

  async #append(frames: readonly NewFrame[]): Promise<Seq> {
    if (this.#isTakenOver)
      throw new GauntletError('fenced', `Session "${this.#sessionId}" is run by another process now`);
    this.#next ??= this.#log.bounds(this.#sessionId)?.head ?? 0;
    const after = this.#next;
    this.#next = after + frames.length;
    return this.#log.append(this.#sessionId, after, frames);
  }

  #landed(row: readonly Emission[], first: Seq, last: Seq): void {
    this.#rowsOnTheirWay--;
    this.#retries = 0;
    this.#head = last;
    let seq = first;
    for (const { frames, landed } of row) {
      landed(seq);
      seq += frames.length;
    }
  }

  #refused(row: readonly Emission[], error: unknown, failuresBefore: number): void {
    this.#rowsOnTheirWay--;
    const isFirst = this.#failures === failuresBefore;
    if (isFirst) {
      this.#failures++;
      this.#next = undefined;
      this.#isTakenOver ||= isGauntletError(error, 'fenced');
    }
    // A row after a failed one is rejected for its number, which does not mean that another process owns the session.
    const cause = isFirst || !isGauntletError(error, 'fenced') ? error : notReached(this.#sessionId);
    for (const { refused } of row) refused(cause);
  }

  #sendInsisted(insisted: Insisted): void {
    this.send({ frames: insisted.frames, landed: insisted.landed, refused: (error) => this.#keep(insisted, error) });
  }

  #keep(insisted: Insisted, error: unknown): void {
    if (this.#isClosed || isGauntletError(error, 'fenced', 'shutting_down', 'not_found')) return;
    // Rows that were written together may be rejected after newer frames have joined the backlog.
    this.#backlog.push(insisted);
    this.#backlog.sort((one, other) => one.place - other.place);
    this.#retryTimer ??= setTimeout(
      () => this.#retry(),
      Math.min(RETRY_MS * RETRY_GROWTH ** this.#retries++, MAX_RETRY_MS),
    );
  }

  #retry(): void {
    this.#retryTimer = undefined;
    const waiting = this.#backlog;
    this.#backlog = [];
    for (const insisted of waiting) if (insisted.isWanted()) this.#sendInsisted(insisted);
  }
}

function notReached(sessionId: string): GauntletError {
  return new GauntletError(
    'log_unavailable',
    `Cannot append to session "${sessionId}": the row before was refused. Try again`,
  );
}

function ignore(): void {
  // Progress and states are only for viewers, so their failure must not stop a call.
}
