/**
 * One WebSocket connection: hello, welcome, missed frames, live frames, and an end with a reason.
 */
import type { WebSocket } from '@fastify/websocket';
import type { Limits } from '../../config/limits.ts';
import { GauntletError } from '../../src/base/errors.ts';
import type { TraceOrigin } from '../../src/base/tracing.ts';
import type { Session } from '../../src/session/session.ts';
import type { ClientFrame } from '../../src/wire/client-frames.ts';
import type { ErrorFrame } from '../../src/wire/control-frames.ts';
import type { DoorContext } from '../dependencies.ts';
import { toWireError, RETRY_AFTER_MS } from '../error-reply.ts';
import { isTooOften } from '../request-rates.ts';
import { createTokenBucket } from '../token-bucket.ts';
import { NotAFrame, parseClientFrame } from './client-frame.ts';
import { CLOSE, type CloseCode } from './close-codes.ts';
import { createOutlet, type Outlet, SOCKET_BUFFER_BYTES, type Wire } from './outlet.ts';
import { View } from './view.ts';

/** Time for `hello`; then the WebSocket is closed with 4405. */
const HELLO_MS = 5_000;

/** A client may send at once what `messagesPerSecond` allows in this time. */
const BURST_SECONDS = 10;

/** Messages that may wait before the socket is paused. */
const MAX_WAITING_MESSAGES = 64;

/** Dependencies of a connection, beside its socket and session. */
export interface ConnectionServices extends Pick<DoorContext, 'readiness' | 'logger' | 'rates'> {
  readonly limits: Limits;
  readonly principal: string;
  readonly wire: Wire;
  /** Trace of the upgrade request. */
  readonly trace?: TraceOrigin | undefined;
}

/** A connected client of one session. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #session: Session;
  readonly #services: ConnectionServices;
  readonly #outlet: Outlet;
  /** Aborted when the socket has closed; ends the cursor. */
  readonly #gone = new AbortController();
  readonly #helloTimer: NodeJS.Timeout;
  readonly #pingTimer: NodeJS.Timeout;
  /** Set by `hello`. */
  #view: View | undefined;
  /** Pings since the last message or pong of the client. */
  #unanswered = 0;

  constructor(socket: WebSocket, session: Session, services: ConnectionServices) {
    const { limits } = services;
    this.#socket = socket;
    this.#session = session;
    this.#services = services;
    this.#outlet = createOutlet(socket, services.wire, limits);
    this.#helloTimer = setTimeout(() => setImmediate(() => this.#endUnlessGreeted()), HELLO_MS);
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
      // A client that does not read gets no pongs, which would pile up.
      if (inbox.count() && socket.bufferedAmount <= SOCKET_BUFFER_BYTES) socket.pong(data);
    });
    socket.on('pong', () => (this.#unanswered = 0));
    socket.once('close', () => this.#dispose());
  }

  /** Send the reason and close. Frames that the client has not read are sent when it reconnects. */
  end(code: CloseCode, reason: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#outlet.control({ type: 'bye', code, reason, retry_ms: RETRY_AFTER_MS });
    this.#socket.close(code, reason);
  }

  /** Close for a shutdown, after the client was sent what is in the log, if it reads. */
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
      frame = parseClientFrame(text);
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

  /**
   * After a blocked event loop the timer fires before sockets are read; `setImmediate` lets a received hello be read
   * first.
   */
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

/** Make an `error` frame. @param frame As far as it was understood: the error names what it was about. */
function errorFrame(error: unknown, frame: ClientFrame | undefined): ErrorFrame {
  const wire = toWireError(error);
  return { type: 'error', ...wire, ...call(wire.details), ...subject(frame), ...field(wire.details) };
}

/** An event of a streamed block does not name its call, so the error does. */
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

/** Handlers of an inbox. */
interface InboxHandlers {
  /** Handles one message; never rejects. */
  handle(text: string): Promise<void>;
  /** Called when messages exceed the rate limit. */
  onFlood(): void;
}

/** Queue of a client's messages. */
interface Inbox {
  /** Count a frame of any kind. @returns False if it exceeds the rate limit. */
  count(): boolean;
  /** Count and queue a message. */
  take(text: string): void;
}

/** Create an inbox. */
function createInbox(
  socket: Pick<WebSocket, 'pause' | 'resume'>,
  { handle, onFlood }: InboxHandlers,
  { messagesPerSecond }: Pick<Limits, 'messagesPerSecond'>,
): Inbox {
  const waiting: string[] = [];
  const bucket = createTokenBucket(BURST_SECONDS * messagesPerSecond, messagesPerSecond);
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
      if (waiting.length >= MAX_WAITING_MESSAGES) socket.pause();
      if (!isBusy) void work();
    },
  };
}
