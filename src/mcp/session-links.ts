/**
 * Connections of sessions to one server: each belongs to one session, opens with its first call, and closes with the
 * session or when it was not used for a while.
 */
import { GauntletError } from '../base/errors.ts';
import type { LinkHandlers } from './link-handlers.ts';
import type { McpLink } from './link.ts';
import { type RunningCall, ServerRequests, type ServerRequestsOptions } from './server-requests.ts';

/** A connection without calls for this long is closed. */
const IDLE_MS = 10 * 60_000;

/** Options of `SessionLinks`. */
export interface SessionLinksOptions extends Omit<ServerRequestsOptions, 'owner'> {
  /** Opens a connection. @throws {GauntletError} `rate_limited`, `tool_failed` or `cancelled`. */
  readonly open: (sessionId: string, handlers: LinkHandlers, use: LinkUse) => Promise<McpLink>;
}

/** Use of a connection, so that one without calls can make room. */
export interface LinkUse {
  readonly isIdle: boolean;
}

interface SessionLink {
  readonly requests: ServerRequests;
  readonly link: Promise<McpLink>;
  timer?: NodeJS.Timeout;
}

/** Connections of all sessions to one server. */
export class SessionLinks {
  readonly #options: SessionLinksOptions;
  readonly #idleMs: number;
  readonly #links = new Map<string, SessionLink>();

  /** @param idleMs Time after which a connection without calls is closed. */
  constructor(options: SessionLinksOptions, idleMs = IDLE_MS) {
    this.#options = options;
    this.#idleMs = idleMs;
  }

  /** Run a call over the connection of its session. @throws As `work`, and as opening a connection. */
  async during<Value>(call: RunningCall, work: (link: McpLink) => Promise<Value>): Promise<Value> {
    const { sessionId } = call.context;
    const used = this.#links.get(sessionId) ?? this.#begin(sessionId);
    clearTimeout(used.timer);
    return used.requests.during(call, async () => {
      const link = await this.#untilAborted(used.link, call.context.signal);
      try {
        return await work(link);
      } finally {
        if (link.endReason() !== undefined) this.#forget(sessionId, used);
        else this.#closeWhenIdle(sessionId, used);
      }
    });
  }

  /** Close the connection of a session that has ended. */
  async endSession(sessionId: string): Promise<void> {
    const used = this.#links.get(sessionId);
    if (used === undefined) return;
    this.#forget(sessionId, used);
    await used.link.then(
      (link) => link.close(),
      // It never opened; whoever called was told.
      () => undefined,
    );
  }

  #begin(sessionId: string): SessionLink {
    const requests = new ServerRequests({ ...this.#options, owner: sessionId });
    const link = this.#options.open(sessionId, requests.handlers(), requests);
    const used: SessionLink = { requests, link };
    this.#links.set(sessionId, used);
    link.then(
      ({ closed }) => closed.then(() => this.#forget(sessionId, used)),
      () => this.#forget(sessionId, used),
    );
    return used;
  }

  /** Several calls may wait for one connection; each ends with its own signal. */
  async #untilAborted(link: Promise<McpLink>, signal: AbortSignal): Promise<McpLink> {
    let onAbort = (): void => undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(new GauntletError('cancelled', 'Waiting for the connection was cancelled'));
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
    return Promise.race([link, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
  }

  #closeWhenIdle(sessionId: string, used: SessionLink): void {
    clearTimeout(used.timer);
    used.timer = setTimeout(() => {
      if (used.requests.isIdle) void this.endSession(sessionId);
      else this.#closeWhenIdle(sessionId, used);
    }, this.#idleMs).unref();
  }

  #forget(sessionId: string, used: SessionLink): void {
    clearTimeout(used.timer);
    if (this.#links.get(sessionId) === used) this.#links.delete(sessionId);
  }
}
