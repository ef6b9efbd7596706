/** What REPL gives, while code runs and at its end. */

/** A piece of output. */
export interface ReplProgress {
  readonly type: 'repl';
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

/** What code printed and gave. */
export interface ReplOutput {
  readonly output: string;
  /** The value of the last expression; absent for `undefined`. */
  readonly value?: string;
  /** True if the values of earlier calls were lost before this one. */
  readonly isStateLost: boolean;
}

/** Tell of values that were lost before a run; '' if none were. */
export function lossNote({ isStateLost }: Pick<ReplOutput, 'isStateLost'>): string {
  return isStateLost ? '\n(This call has a new process: values of earlier calls are lost)' : '';
}
