/**
 * Where a reader begins: after what it has seen, or at the first frame when what it has seen is of
 * another history.
 */
import type { Seq } from '../src/wire/frames.ts';
import type { LogBounds } from '../src/log/frame-log.ts';

/** Where to begin, and what the reader must be told about it. What retention took the log says as a gap. */
export interface LogStart {
  /** Read on after this. */
  readonly after: Seq;
  /** False: what the reader has seen does not count, everything from the first frame comes. */
  readonly isResumed: boolean;
  readonly bounds: LogBounds;
}

/** Find it. @param asked Without `fromSeq`: from now on. */
export function logStart(
  log: { readonly epoch: string; bounds(): LogBounds },
  asked: { readonly fromSeq?: Seq; readonly epoch?: string },
): LogStart {
  const bounds = log.bounds();
  const { fromSeq = bounds.head, epoch = log.epoch } = asked;
  const isResumed = fromSeq <= bounds.head && epoch === log.epoch;
  return { after: isResumed ? fromSeq : 0, isResumed, bounds };
}
