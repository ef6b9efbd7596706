/**
 * A session's end of the frame log: it knows the head, and gathers what happens in one turn of the
 * event loop into one row.
 */
import type { Limits } from '../../config/limits.ts';
import type { NewFrame, Seq } from '../wire/frames.ts';
import { GauntletError, isGauntletError } from '../base/errors.ts';
import type { FrameLog } from '../log/frame-log.ts';
import { atTurnEnd } from '../log/turn-end.ts';

/** How much longer each wait is than the one before. */
const RETRY_GROWTH = 5;

/** Where a session's frames go. */
export interface SessionLogParts {
  readonly log: FrameLog;
  readonly limits: Pick<Limits, 'logRetryMs' | 'logRetryMaxMs'>;
}

/** Frames on their way, and who waits for them. */
export interface Emission {
  readonly frames: readonly NewFrame[];
  /** Told the `seq` of the first, in the same step in which `head` moves past them. */
  readonly landed: (first: Seq) => void;
  /** None of them landed. */
  readonly refused: (error: unknown) => void;
}

/** Frames that must not be lost. */
interface Insisted {
  /** One more with each: the order in which they must land. */
  readonly place: number;
  readonly frames: readonly NewFrame[];
  readonly isWanted: () => boolean;
  readonly landed: (first: Seq) => void;
}

/** Frames on their way to the log. */
export class SessionLog {
  readonly #log: FrameLog;
  readonly #limits: SessionLogParts['limits'];
  readonly #sessionId: string;
  /** Where the next row goes: behind those on their way. Undefined when a row failed: the log itself must say. */
  #next: Seq | undefined;
  #head: Seq;
  #pending: Emission[] = [];
  #rowsOnTheirWay = 0;
  /** One more with each row that failed; rows sent before fail with it, being numbered behind it. */
  #failures = 0;
  /** Refused frames that must not be lost, in order; all later ones wait behind them. */
  #backlog: Insisted[] = [];
  #insisted = 0;
  #retries = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isTakenOver = false;

  constructor({ log, limits }: SessionLogParts, sessionId: string, head: Seq) {
    this.#log = log;
    this.#limits = limits;
    this.#sessionId = sessionId;
    this.#next = head;
    this.#head = head;
  }

  /** Highest `seq` on disk. Whatever nobody has been told of yet comes after it. */
  get head(): Seq {
    return this.#head;
  }

  /** True when nothing is on its way. */
  get isSettled(): boolean {
    return this.#pending.length === 0 && this.#rowsOnTheirWay === 0 && this.#backlog.length === 0;
  }

  /** True once another process owns the session: what this one knows of it is out of date. */
  get isTakenOver(): boolean {
    return this.#isTakenOver;
  }

  /**
   * Send frames to the log.
   *
   * @returns The `seq` of the first of them, once they are on disk.
   * @throws {GauntletError} `log_unavailable`, `fenced`: none of them landed.
   */
  emit(...frames: readonly NewFrame[]): Promise<Seq> {
    return new Promise((landed, refused) => this.send({ frames, landed, refused }));
  }

  /** Send frames whose landing nobody waits for; a refusal only thins out what viewers see. */
  tell(...frames: readonly NewFrame[]): void {
    this.send({ frames, landed: ignore, refused: ignore });
  }

  /** As `emit`, for who must know in the same step. */
  send(emission: Emission): void {
    // A call that does little begins and ends within one turn of the loop: all it emits is one row.
    if (this.#pending.push(emission) === 1) atTurnEnd(() => this.#flush());
  }

  /**
   * Send frames that must not be lost: tried again, in order, until the disk takes them.
   *
   * @param isWanted Asked before a new try: false lets them go.
   * @param landed Called once with the `seq` of the first, when they are on disk.
   */
  insist(frames: readonly NewFrame[], isWanted: () => boolean, landed: (first: Seq) => void): void {
    const insisted = { place: this.#insisted++, frames, isWanted, landed };
    if (this.#backlog.length > 0) this.#backlog.push(insisted);
    else this.#sendInsisted(insisted);
  }

  /** No more retries: the session is gone, or has been taken over. */
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
    // A row behind a failed one is refused for its number: that says nothing about whose session it is.
    const cause = isFirst || !isGauntletError(error, 'fenced') ? error : notReached(this.#sessionId);
    for (const { refused } of row) refused(cause);
  }

  #sendInsisted(insisted: Insisted): void {
    this.send({ frames: insisted.frames, landed: insisted.landed, refused: (error) => this.#keep(insisted, error) });
  }

  #keep(insisted: Insisted, error: unknown): void {
    if (this.#isClosed || isGauntletError(error, 'fenced', 'shutting_down', 'not_found')) return;
    // Rows that were on their way together may be refused after newer frames have joined the backlog.
    this.#backlog.push(insisted);
    this.#backlog.sort((one, other) => one.place - other.place);
    const { logRetryMs, logRetryMaxMs } = this.#limits;
    this.#retryTimer ??= setTimeout(
      () => this.#retry(),
      Math.min(logRetryMs * RETRY_GROWTH ** this.#retries++, logRetryMaxMs),
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
  // Progress and state are for whoever watches: not worth stopping a call for.
}
