/**
 * One WebSocket: hello, welcome, what was missed, live; frames in, frames out, and an end with a reason.
 */
import type { WebSocket } from '@fastify/websocket';
import type { Limits } from '../../config/limits.ts';
import { GauntletError, type RequestErrorCode } from '../../src/base/errors.ts';
import type { Session } from '../../src/session/session.ts';
import type { DoorContext } from '../dependencies.ts';
import { toWireError } from '../error-reply.ts';
import { isTooOften } from '../request-rates.ts';
import { createTokenBucket } from '../token-bucket.ts';
import { type ClientFrame, NotAFrame } from './client-frame.ts';
import { CLOSE, type CloseCode } from './close-codes.ts';
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

/** An `error` frame. */
interface ErrorFrame {
  readonly type: 'error';
  readonly code: RequestErrorCode;
  readonly message: string;
  readonly tool_use_id?: string;
  readonly request_id?: string;
  /** The field that is wrong. */
  readonly path?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Make one. @param frame As far as it was understood: the error names what it was about. */
function errorFrame(error: unknown, frame: ClientFrame | undefined): ErrorFrame {
  const wire = toWireError(error);
  return { type: 'error', ...wire, ...call(wire.details), ...subject(frame), ...field(wire.details) };
}

/** A streamed block's event does not name the call it ends: the refusal does. */
function call(details: Readonly<Record<string, unknown>> | undefined): Pick<ErrorFrame, 'tool_use_id'> {
  const id = details?.['tool_use_id'];
  return typeof id === 'string' ? { tool_use_id: id } : {};
}

function subject(frame: ClientFrame | undefined): Pick<ErrorFrame, 'tool_use_id' | 'request_id'> {
  if (frame?.type === 'permission_answer') return { request_id: frame.request_id };
  if (frame?.type === 'cancel') return { tool_use_id: frame.tool_use_id };
  if (frame?.type !== 'tool_use') return {};
  const { id } = (frame.tool_use ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' ? { tool_use_id: id } : {};
}

function field(details: Readonly<Record<string, unknown>> | undefined): Pick<ErrorFrame, 'path'> {
  const path = details?.['path'];
  return typeof path === 'string' ? { path } : {};
}

/** What happens to messages. */
interface InboxHandlers {
  /** One message; rejects never. */
  handle(text: string): Promise<void>;
  /** More messages than may come at once. */
  onFlood(): void;
}

/** Takes what a client sends. */
interface Inbox {
  /** Count a frame of whatever kind. @returns False when it is one too many. */
  count(): boolean;
  /** Take the next message, and count it. */
  take(text: string): void;
}

/** Make an inbox. */
function createInbox(
  socket: Pick<WebSocket, 'pause' | 'resume'>,
  { handle, onFlood }: InboxHandlers,
  limits: Pick<Limits, 'inboxMessages' | 'messageBurst' | 'messagesPerSecond'>,
): Inbox {
  const waiting: string[] = [];
  const bucket = createTokenBucket(limits.messageBurst, limits.messagesPerSecond);
  let isBusy = false;

  function count(): boolean {
    if (bucket.take()) return true;
    onFlood();
    return false;
  }

  async function work(): Promise<void> {
    isBusy = true;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      await handle(text);
      if (waiting.length === 0) socket.resume();
    }
    isBusy = false;
  }

  return {
    count,
    take(text) {
      if (!count()) return;
      waiting.push(text);
      if (waiting.length >= limits.inboxMessages) socket.pause();
      if (!isBusy) void work();
    },
  };
}
