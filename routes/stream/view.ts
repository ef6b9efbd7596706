/**
 * One connection's access to its session from `hello` on: a cursor over the log, a feeder for turns, and the right to
 * answer questions.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Limits } from '../../config/limits.ts';
import { MAX_JSON_DEPTH } from '../../src/base/json.ts';
import type { TraceOrigin } from '../../src/base/tracing.ts';
import type { LogGap } from '../../src/wire/session-replies.ts';
import type { Session } from '../../src/session/session.ts';
import type { Seq } from '../../src/wire/frames.ts';
import { isProgress } from '../../src/wire/progress-frames.ts';
import { type ClientFrame, SUBPROTOCOL } from '../../src/wire/client-frames.ts';
import type { GapFrame, WelcomeFrame } from '../../src/wire/control-frames.ts';
import type { Readiness } from '../../src/wire/server-replies.ts';
import { logStart, type LogStart } from '../log-start.ts';
import type { RequestRates } from '../request-rates.ts';
import { dispatch, type DispatchContext, type LaterFrame } from './dispatch.ts';
import type { Outlet } from './outlet.ts';

/** A client that takes longer to read a frame is not sent the progress that it missed meanwhile, but a `gap`. */
const LAGGING_MS = 1_000;

/** Dependencies of a view. */
export interface ViewParts {
  readonly session: Session;
  readonly outlet: Outlet;
  readonly principal: string;
  readonly rates: RequestRates;
  readonly limits: Limits;
  readiness(): Readiness;
  /** Trace of the upgrade request, which the connection's calls are linked to. */
  readonly trace?: TraceOrigin | undefined;
  /** Aborted when the connection is gone; ends the cursor. */
  readonly gone: AbortSignal;
}

/** One connection's view of its session. */
export class View {
  /** Reason for the end of the cursor. Rejects if the log cannot be read. */
  readonly ended: Promise<ReplayEnd>;
  readonly #parts: ViewParts;
  readonly #context: DispatchContext;
  readonly #detach: () => void;
  /** Last frame sent or skipped by the cursor. */
  #passed: Seq = 0;
  /** Called with each frame that the cursor passes; set by `untilCaughtUp`. */
  #onPassed: (() => void) | undefined;

  constructor(hello: Extract<ClientFrame, { readonly type: 'hello' }>, parts: ViewParts) {
    const { session, outlet, limits, gone, trace } = parts;
    this.#parts = parts;
    this.#detach = session.attach();
    this.#context = { ...parts, feeder: session.feeder((control) => outlet.control(control), trace) };

    const start = logStart(session, { fromSeq: hello.from_seq ?? undefined, epoch: hello.epoch ?? undefined });
    outlet.control(welcomeFrame(session, start, limits));
    const onPassed = (seq: Seq) => {
      this.#passed = seq;
      this.#onPassed?.();
    };
    const isWatching = () => !this.#context.feeder.hasFed;
    this.ended = replay(session, outlet, { start, progress: hello.progress, signal: gone, isWatching, onPassed });
  }

  /** Execute a frame. @throws {GauntletError} An error to send as an `error` frame. */
  dispatch(frame: LaterFrame): Promise<void> {
    return dispatch(frame, this.#context);
  }

  /** Resolves when the client was sent everything that is in the log now, is gone, or takes too long. */
  untilCaughtUp(): Promise<void> {
    const { session, gone, limits } = this.#parts;
    const { head } = session.bounds();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limits.killGraceMs);
      const look = () => {
        if (this.#passed < head && !gone.aborted) return;
        clearTimeout(timer);
        resolve();
      };
      this.#onPassed = look;
      gone.addEventListener('abort', look, { once: true });
      look();
    });
  }

  /** Release the view when the connection is gone. */
  close(): void {
    this.#detach();
    this.#context.feeder.close();
  }
}

/** Build the `welcome` frame of a connection. */
function welcomeFrame(session: Session, { bounds, isResumed }: LogStart, limits: Limits): WelcomeFrame {
  return {
    type: 'welcome',
    protocol: SUBPROTOCOL,
    session_id: session.id,
    epoch: session.epoch,
    first: bounds.first,
    head: bounds.head,
    resumed: isResumed,
    pending: session.prompts(),
    running: session.running(),
    limits: {
      message_bytes: limits.webSocketMessageBytes,
      json_depth: MAX_JSON_DEPTH,
      tool_use_concurrency: limits.toolUseConcurrency,
      ping_ms: limits.webSocketPingMs,
      slow_reader_ms: limits.slowReaderMs,
    },
  };
}

/** Options of sending the log to a client. */
interface ReplayOptions {
  readonly start: LogStart;
  /** False leaves out progress frames. */
  readonly progress: boolean;
  readonly signal: AbortSignal;
  /** True while the client runs nothing over the connection itself. */
  isWatching(): boolean;
  /** Called for each frame that was sent or skipped. */
  onPassed(seq: Seq): void;
}

/** Reason for the end of a cursor. */
type ReplayEnd = 'stopped' | 'session closed' | 'slow reader';

/**
 * Send frames until the signal aborts, the session ends, or the client stops reading.
 *
 * @returns The reason for the end.
 */
async function replay(
  session: Session,
  outlet: Outlet,
  { start, progress, signal, isWatching, onPassed }: ReplayOptions,
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
    // The client that waits for a result gets it first: many consoles must not delay the calls that they show.
    if (isWatching()) await nextTurn();
    for (const { seq, type, text } of page) {
      const isWanted = !isProgress(type) || (progress && !thinning.leavesOut(seq));
      if (isWanted) {
        thinning.tell();
        const waiting = outlet.write(text);
        const sinceMs = waiting && performance.now();
        if (waiting !== undefined && !(await waiting)) return 'slow reader';
        if (signal.aborted) return 'stopped';
        if (sinceMs !== undefined && performance.now() - sinceMs > LAGGING_MS) thinning.upTo(session.bounds().head);
      }
      pass(seq);
    }
  }
  return signal.aborted ? 'stopped' : 'session closed';
}

/** Leave out progress that a slow client would read late, and report it as a `gap`. */
function thinProgress(send: (gap: GapFrame) => void) {
  let last: Seq = 0;
  let gap: Pick<GapFrame, 'from' | 'to'> | undefined;
  const tell = () => {
    if (gap !== undefined) send({ type: 'gap', ...gap, reason: 'coalesced' });
    gap = undefined;
  };
  return {
    /** Mark progress up to this frame as outdated. */
    upTo: (seq: Seq) => (last = seq),
    leavesOut(seq: Seq): boolean {
      if (seq > last) return false;
      gap = { from: gap?.from ?? seq, to: seq };
      // Sent before `live`, which reports that the client is up to date.
      if (seq === last) tell();
      return true;
    },
    /** Report the omitted frames before the next frame is sent. */
    tell,
  };
}
