/**
 * The cursor of one connection over its session's log: what was missed, then what happens.
 */
import { isProgress, type Seq } from '../../src/wire/frames.ts';
import type { LogGap } from '../../src/log/frame-log.ts';
import type { Session } from '../../src/session/session.ts';
import type { LogStart } from '../log-start.ts';
import type { Outlet } from './outlet.ts';

/** What a viewer is sent. */
export interface ReplayOptions {
  /** A client that takes longer than this to read is not sent the progress it missed meanwhile. */
  readonly laggingMs: number;
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
  { start, progress, laggingMs, signal, onPassed }: ReplayOptions,
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
  const thinning = thinProgress((gap) => outlet.control(gap));
  for await (const page of session.read(start.after, { live: true, signal, onGap })) {
    for (const { seq, type, text } of page) {
      const isWanted = !isProgress(type) || (progress && !thinning.leavesOut(seq));
      if (isWanted) {
        thinning.tell();
        const waiting = outlet.write(text);
        const sinceMs = waiting && performance.now();
        if (waiting !== undefined && !(await waiting)) return 'slow reader';
        if (signal.aborted) return 'stopped';
        if (sinceMs !== undefined && performance.now() - sinceMs > laggingMs) thinning.upTo(session.bounds().head);
      }
      pass(seq);
    }
  }
  return signal.aborted ? 'stopped' : 'session closed';
}

/** Leaves out the progress that a client which lags would only read late, and says so in a `gap`. */
function thinProgress(send: (gap: object) => void) {
  let last: Seq = 0;
  let gap: { readonly from: Seq; readonly to: Seq } | undefined;
  const tell = () => {
    if (gap !== undefined) send({ type: 'gap', ...gap, reason: 'coalesced' });
    gap = undefined;
  };
  return {
    /** Progress up to here is old. */
    upTo: (seq: Seq) => (last = seq),
    leavesOut(seq: Seq): boolean {
      if (seq > last) return false;
      gap = { from: gap?.from ?? seq, to: seq };
      // Nothing may stand between the last of them and the word that the client is up to date.
      if (seq === last) tell();
      return true;
    },
    /** What was left out is told before what comes next. */
    tell,
  };
}
