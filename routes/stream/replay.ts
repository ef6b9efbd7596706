/**
 * The cursor of one connection over its session's log: what was missed, then what happens.
 */
import { isProgress, type Seq } from '../../src/contract/frames.ts';
import type { LogGap } from '../../src/log/frame-log.ts';
import type { Session } from '../../src/session/session.ts';
import type { LogStart } from '../log-start.ts';
import type { Outlet } from './outlet.ts';

/** What a viewer is sent. */
export interface ReplayOptions {
  readonly start: LogStart;
  /** False leaves progress out. */
  readonly progress: boolean;
  readonly signal: AbortSignal;
  /** Told of each frame that was passed. */
  onPassed(seq: Seq): void;
}

/** Why a cursor stopped. */
export type ReplayEnd = 'stopped' | 'session closed' | 'slow reader';

/**
 * Send frames until the signal, the end of the session, or a client that does not read.
 *
 * @returns Why it ended.
 */
export async function replay(
  session: Session,
  outlet: Outlet,
  { start, progress, signal, onPassed }: ReplayOptions,
): Promise<ReplayEnd> {
  let isLive = false;
  function pass(seq: Seq): void {
    onPassed(seq);
    if (isLive || seq < start.bounds.head) return;
    isLive = true;
    outlet.control({ type: 'live', seq });
  }

  pass(start.after);
  const onGap = (gap: LogGap) => {
    outlet.control({ type: 'gap', ...gap });
    pass(gap.to);
  };
  for await (const page of session.read(start.after, { live: true, signal, onGap })) {
    for (const { seq, type, text } of page) {
      if (progress || !isProgress(type)) {
        const waiting = outlet.write(text);
        if (waiting !== undefined && !(await waiting)) return 'slow reader';
        if (signal.aborted) return 'stopped';
      }
      pass(seq);
    }
  }
  return signal.aborted ? 'stopped' : 'session closed';
}
