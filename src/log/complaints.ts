/**
 * What the log tells its operator, each problem once.
 */
import { errorMessage } from '../base/errors.ts';
import type { LogGap } from './frame-log.ts';
import type { OnLogProblem } from './log-problem.ts';

/** Where problems go to be told. */
export class Complaints {
  readonly #onProblem: OnLogProblem;
  /** Damaged rows told of at most; more are as good as countless. */
  readonly #mostGaps: number;
  /** Damaged rows that were told of, by session and end; forgotten with the process. */
  readonly #gaps = new Set<string>();
  #isMarkTold = false;

  constructor(onProblem: OnLogProblem, mostGaps: number) {
    this.#onProblem = onProblem;
    this.#mostGaps = mostGaps;
  }

  /** Frames are damaged. */
  gap(sessionId: string, { from, to }: LogGap): void {
    const key = `${sessionId} ${to}`;
    if (this.#gaps.has(key) || this.#gaps.size >= this.#mostGaps) return;
    this.#gaps.add(key);
    const message = `Frames ${from} to ${to} of session "${sessionId}" are damaged and cannot be read`;
    this.#onProblem({ code: 'frames_corrupt', message, sessionId, from, to });
  }

  /** The high-water mark could not be written. */
  mark(cause: unknown): void {
    if (this.#isMarkTold) return;
    this.#isMarkTold = true;
    const message = `Cannot write the log's high-water mark: ${errorMessage(cause)}`;
    this.#onProblem({ code: 'high_water_unwritable', message, cause });
  }

  /** Rows that should go stay; they only take up room. */
  sweep(cause: unknown): void {
    const message = `Cannot delete rows that are no longer kept: ${errorMessage(cause)}`;
    this.#onProblem({ code: 'sweep_failed', message, cause });
  }
}
