/**
 * Determines where a reader of the log starts: after the last frame it has seen, or at the first frame if that belongs
 * to another history.
 */
import type { Seq } from '../src/wire/frames.ts';
import type { LogBounds } from '../src/log/frame-log.ts';

/** Start of a reader. Frames that retention deleted are reported by the log as a gap. */
export interface LogStart {
  /** The reader continues after this frame. */
  readonly after: Seq;
  /** False if the reader's position is invalid, so that it gets all frames from the first. */
  readonly isResumed: boolean;
  readonly bounds: LogBounds;
}

/** Determine the start. @param asked Without `fromSeq`: only new frames. */
export function logStart(
  log: { readonly epoch: string; bounds(): LogBounds },
  asked: { readonly fromSeq?: Seq; readonly epoch?: string },
): LogStart {
  const bounds = log.bounds();
  const { fromSeq = bounds.head, epoch = log.epoch } = asked;
  const isResumed = fromSeq <= bounds.head && epoch === log.epoch;
  return { after: isResumed ? fromSeq : 0, isResumed, bounds };
}
