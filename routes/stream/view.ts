/**
 * What a connection has of its session from `hello` on: a cursor over the log, a way to feed turns, and
 * a seat among those who may answer questions.
 */
import type { Limits } from '../../config/limits.ts';
import type { Seq } from '../../src/wire/frames.ts';
import type { Session } from '../../src/session/session.ts';
import type { Readiness } from '../dependencies.ts';
import type { RequestRates } from '../request-rates.ts';
import { logStart } from '../log-start.ts';
import type { ClientFrame } from './client-frame.ts';
import { dispatch, type DispatchContext, type LaterFrame } from './dispatch.ts';
import type { Outlet } from './outlet.ts';
import { replay, type ReplayEnd } from './replay.ts';
import { welcomeFrame } from './welcome.ts';

/** What a view is made with. */
export interface ViewParts {
  readonly session: Session;
  readonly outlet: Outlet;
  readonly principal: string;
  readonly rates: RequestRates;
  readonly limits: Limits;
  readiness(): Readiness;
  /** Aborted when the connection is gone: ends the cursor. */
  readonly gone: AbortSignal;
}

/** One connection's view of its session. */
export class View {
  /** Why the cursor stopped. Rejects if the log cannot be read. */
  readonly ended: Promise<ReplayEnd>;
  readonly #parts: ViewParts;
  readonly #context: DispatchContext;
  readonly #detach: () => void;
  /** Last frame the cursor has passed. */
  #passed: Seq = 0;
  /** Set by `untilCaughtUp`, called with each frame passed. */
  #onPassed: (() => void) | undefined;

  constructor(hello: Extract<ClientFrame, { readonly type: 'hello' }>, parts: ViewParts) {
    const { session, outlet, limits, gone } = parts;
    this.#parts = parts;
    this.#detach = session.attach();
    this.#context = { ...parts, feeder: session.feeder((control) => outlet.control(control)) };

    const start = logStart(session, { fromSeq: hello.from_seq ?? undefined, epoch: hello.epoch ?? undefined });
    outlet.control(welcomeFrame(session, start, limits));
    const onPassed = (seq: Seq) => {
      this.#passed = seq;
      this.#onPassed?.();
    };
    const { laggingReaderMs: laggingMs } = limits;
    this.ended = replay(session, outlet, { start, progress: hello.progress, laggingMs, signal: gone, onPassed });
  }

  /** Do what a frame says. @throws {GauntletError} What becomes an `error` frame. */
  dispatch(frame: LaterFrame): Promise<void> {
    return dispatch(frame, this.#context);
  }

  /** Resolves when the client was sent all that is in the log now, is gone, or takes too long. */
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

  /** The connection is gone. */
  close(): void {
    this.#detach();
    this.#context.feeder.close();
  }
}
