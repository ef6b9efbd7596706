/**
 * Where a reader begins: after what it has seen, or at the first frame when what it has seen is of
 * another history.
 */
import type { Seq } from '../src/contract/frames.ts';
import type { LogBounds } from '../src/log/frame-log.ts';

/** Where to begin, and what the reader must be told about it. */
export interface LogStart {
  /** Read on after this. */
  readonly after: Seq;
  /** False: what the reader has seen does not count, everything from the first frame comes. */
  readonly isResumed: boolean;
  /** Frames the reader asked for and retention took. */
  readonly gap?: { readonly type: 'gap'; readonly from: Seq; readonly to: Seq; readonly reason: 'retention' };
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
  const after = isResumed ? fromSeq : 0;
  if (after + 1 >= bounds.first) return { after, isResumed, bounds };
  const gap = { type: 'gap', from: after + 1, to: bounds.first - 1, reason: 'retention' } as const;
  return { after: bounds.first - 1, isResumed, gap, bounds };
}
