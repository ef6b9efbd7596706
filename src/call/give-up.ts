/**
 * A tool that does not listen to its signal is given up: its call ends, and its place is free for the next.
 */
import { abortReason } from './abort-reason.ts';

/**
 * Wait for a tool's work.
 *
 * @param graceMs How long after the signal it may still come to its own end.
 * @returns What the work comes to.
 * @throws What the work rejects with; the signal's reason when it is given up.
 */
export function unlessGivenUp<Result>(work: Promise<Result>, signal: AbortSignal, graceMs: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const arm = () => {
      timer = setTimeout(() => reject(abortReason(signal)), graceMs);
    };
    if (signal.aborted) arm();
    else signal.addEventListener('abort', arm, { once: true });
    const release = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', arm);
    };
    work.then(resolve, reject).finally(release);
  });
}
