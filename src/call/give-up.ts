/**
 * A tool that does not listen to its signal is given up: its call ends, and its place is free for the next.
 */
import { abortReason } from './abort-reason.ts';

/**
 * Do some of a tool's work.
 *
 * @param graceMs How long after the signal it may still come to its own end.
 * @returns What the work comes to.
 * @throws What the work throws; the signal's reason when it is given up.
 */
export async function unlessGivenUp<Result>(
  work: () => Result | Promise<Result>,
  signal: AbortSignal,
  graceMs: number,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  let arm: () => void = () => undefined;
  const givenUp = new Promise<never>((_, reject) => {
    arm = () => {
      timer = setTimeout(() => reject(abortReason(signal)), graceMs);
    };
  });
  if (signal.aborted) arm();
  else signal.addEventListener('abort', arm, { once: true });
  try {
    return await Promise.race([work(), givenUp]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', arm);
  }
}
