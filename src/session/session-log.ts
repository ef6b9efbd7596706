/**
 * A session's end of the frame log: it knows the head, and gathers what happens in one turn of the
 * event loop into one row.
 */
import type { NewFrame, Seq } from '../contract/frames.ts';
import { isGauntletError } from '../contract/errors.ts';
import type { FrameLog } from '../log/frame-log.ts';

/** Waits before a result the disk refused is tried again, and grows up to the last. */
const RETRY_MS = [50, 250, 1_000];

/** Frames that must not be lost. */
interface InsistedFrames {
  readonly frames: readonly NewFrame[];
  /** Asked before a new try: false lets them go. */
  readonly isWanted: () => boolean;
  /** Called once with the `seq` of the first, when they are on disk. */
  readonly landed: (first: Seq) => void;
}

/** Frames on their way to the log. */
export class SessionLog {
  readonly #log: FrameLog;
  readonly #sessionId: string;
  #head: Seq;
  #pending: NewFrame[] = [];
  #flush: Promise<Seq> | undefined;
  /** Frames that must not be lost and have not landed; all later ones wait behind them. */
  #backlog: InsistedFrames[] = [];
  #retries = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(log: FrameLog, sessionId: string, head: Seq) {
    this.#log = log;
    this.#sessionId = sessionId;
    this.#head = head;
  }

  /** Highest `seq` given out, those on their way included. */
  get head(): Seq {
    return this.#head + this.#pending.length;
  }

  /**
   * Send frames to the log.
   *
   * @returns The `seq` of the first of them, once they are on disk.
   * @throws {GauntletError} `log_unavailable`, `fenced`: none of them landed.
   */
  emit(...frames: readonly NewFrame[]): Promise<Seq> {
    const place = this.#pending.length;
    for (const frame of frames) this.#pending.push(frame);
    this.#flush ??= this.#schedule();
    return this.#flush.then((first) => first + place);
  }

  /** Send frames whose landing nobody waits for; a refusal only thins out what viewers see. */
  tell(...frames: readonly NewFrame[]): void {
    this.emit(...frames).catch(ignoreRefusal);
  }

  /**
   * Send frames that must not be lost: tried again, in order, until the disk takes them.
   *
   * @param isWanted Asked before a new try: false lets them go.
   * @param landed Called once with the `seq` of the first, when they are on disk.
   */
  insist(frames: readonly NewFrame[], isWanted: () => boolean, landed: (first: Seq) => void): void {
    const insisted = { frames, isWanted, landed };
    if (this.#backlog.length > 0) this.#backlog.push(insisted);
    else this.#send(insisted);
  }

  /** No more retries: the session is gone, or has been taken over. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
  }

  /** One row for all that one turn of the event loop emits: ticks run after the microtasks in hand. */
  #schedule(): Promise<Seq> {
    return new Promise((resolve, reject) => {
      process.nextTick(() => {
        const frames = this.#pending;
        const after = this.#head;
        this.#pending = [];
        this.#flush = undefined;
        this.#head = after + frames.length;
        this.#log.append(this.#sessionId, after, frames).then(
          () => resolve(after + 1),
          (error: unknown) => {
            // Appends behind a failed one fail with it, so the log's own head is where to go on.
            this.#head = this.#log.bounds(this.#sessionId)?.head ?? 0;
            reject(error);
          },
        );
      });
    });
  }

  #send(insisted: InsistedFrames): void {
    this.emit(...insisted.frames).then(
      (first) => {
        this.#retries = 0;
        insisted.landed(first);
      },
      (error: unknown) => this.#keep(insisted, error),
    );
  }

  #keep(insisted: InsistedFrames, error: unknown): void {
    if (this.#isClosed || isGauntletError(error, 'fenced', 'shutting_down', 'not_found')) return;
    this.#backlog.push(insisted);
    this.#retryTimer ??= setTimeout(() => this.#retry(), RETRY_MS[Math.min(this.#retries++, RETRY_MS.length - 1)]);
  }

  #retry(): void {
    this.#retryTimer = undefined;
    const waiting = this.#backlog;
    this.#backlog = [];
    for (const insisted of waiting) if (insisted.isWanted()) this.#send(insisted);
  }
}

function ignoreRefusal(): void {
  // The log says so itself, once; a frame of progress or state is not worth stopping a call for.
}
