/**
 * One WebSocket: hello, welcome, what was missed, live; frames in, frames out, and an end with a reason.
 */
import type { WebSocket } from '@fastify/websocket';
import type { Limits } from '../../config/limits.ts';
import { GauntletError } from '../../src/base/errors.ts';
import type { Session } from '../../src/session/session.ts';
import type { DoorContext } from '../dependencies.ts';
import { isTooOften } from '../request-rates.ts';
import { NotAFrame, type ClientFrame } from './client-frame.ts';
import { CLOSE, type CloseCode } from './close-codes.ts';
import { errorFrame } from './error-frame.ts';
import { createInbox } from './inbox.ts';
import { createOutlet, type Outlet, type Wire } from './outlet.ts';
import { View } from './view.ts';

/** What a connection is handed beside its socket and session. */
export interface ConnectionServices extends Pick<DoorContext, 'readiness' | 'logger' | 'rates'> {
  readonly limits: Limits;
  readonly principal: string;
  readonly wire: Wire;
  readFrame(text: string): ClientFrame;
}

/** A connected client of one session. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #session: Session;
  readonly #services: ConnectionServices;
  readonly #outlet: Outlet;
  /** Aborted when the socket has closed: ends the cursor. */
  readonly #gone = new AbortController();
  readonly #helloTimer: NodeJS.Timeout;
  readonly #pingTimer: NodeJS.Timeout;
  /** Present from `hello` on. */
  #view: View | undefined;
  /** Pings since the client last showed life. */
  #unanswered = 0;

  constructor(socket: WebSocket, session: Session, services: ConnectionServices) {
    const { limits } = services;
    this.#socket = socket;
    this.#session = session;
    this.#services = services;
    this.#outlet = createOutlet(socket, services.wire, limits);
    this.#helloTimer = setTimeout(() => setImmediate(() => this.#endUnlessGreeted()), limits.helloMs);
    this.#pingTimer = setInterval(() => this.#ping(), limits.webSocketPingMs);
    const inbox = createInbox(
      socket,
      { handle: (text) => this.#handle(text), onFlood: () => this.end(CLOSE.tooFast, 'too_many_messages') },
      limits,
    );
    socket.on('message', (data, isBinary) => {
      this.#unanswered = 0;
      if (isBinary) this.end(CLOSE.binary, 'binary');
      else inbox.take(String(data));
    });
    socket.on('ping', (data) => {
      // Who does not read gets no answers that would pile up.
      if (inbox.count() && socket.bufferedAmount <= limits.socketBufferBytes) socket.pong(data);
    });
    socket.on('pong', () => (this.#unanswered = 0));
    socket.once('close', () => this.#dispose());
  }

  /** Say why, and close. What the client had not read by then it gets when it comes again. */
  end(code: CloseCode, reason: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#outlet.control({ type: 'bye', code, reason, retry_ms: this.#services.limits.retryAfterMs });
    this.#socket.close(code, reason);
  }

  /** The server goes: what is in the log reaches the client first, if it reads. */
  async leave(): Promise<void> {
    await this.#view?.untilCaughtUp();
    this.end(CLOSE.goingAway, 'server_shutdown');
    if (this.#socket.readyState === this.#socket.CLOSED) return;
    const timer = setTimeout(() => this.#socket.terminate(), this.#services.limits.killGraceMs);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  async #handle(text: string): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    let frame: ClientFrame | undefined;
    try {
      frame = this.#services.readFrame(text);
      if (this.#view === undefined) this.#begin(frame);
      else if (frame.type === 'hello')
        throw new GauntletError('invalid_request', 'This connection has said hello already');
      else await this.#view.dispatch(frame);
    } catch (error) {
      if (error instanceof NotAFrame) return this.end(CLOSE.badFrame, 'bad_frame');
      if (isTooOften(error)) return this.end(CLOSE.tooFast, 'rate_limited');
      const told = errorFrame(error, frame);
      if (told.code === 'internal') this.#services.logger.error({ err: error }, 'A frame failed');
      this.#outlet.control(told);
    }
    const draining = this.#outlet.drained();
    if (draining && !(await draining)) this.end(CLOSE.slowReader, 'slow_reader');
  }

  #begin(frame: ClientFrame): void {
    if (frame.type !== 'hello') return this.end(CLOSE.noHello, 'no_hello');
    clearTimeout(this.#helloTimer);
    this.#view = new View(frame, {
      ...this.#services,
      session: this.#session,
      outlet: this.#outlet,
      gone: this.#gone.signal,
    });
    this.#view.ended.then(
      (why) => {
        if (why === 'slow reader') this.end(CLOSE.slowReader, 'slow_reader');
        if (why === 'session closed') this.end(CLOSE.sessionClosed, 'session_closed');
      },
      (error: unknown) => {
        if (this.#gone.signal.aborted) return;
        this.#services.logger.error({ err: error, session_id: this.#session.id }, 'A stream failed');
        this.end(CLOSE.internal, 'internal');
      },
    );
  }

  /** A loop that stood still finds the timer due first: what the client had sent by then has been read since. */
  #endUnlessGreeted(): void {
    if (this.#view === undefined) this.end(CLOSE.noHello, 'no_hello');
  }

  #ping(): void {
    this.#unanswered += 1;
    if (this.#unanswered > 2) this.#socket.terminate();
    else this.#socket.ping();
  }

  #dispose(): void {
    clearTimeout(this.#helloTimer);
    clearInterval(this.#pingTimer);
    this.#gone.abort();
    this.#view?.close();
  }
}
