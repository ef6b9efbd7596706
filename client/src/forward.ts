/**
 * Executes the calls of a model while it still writes them. The stream itself passes through unchanged.
 *
 * Over a WebSocket each call is sent when it is whole. When the message ends, the same calls are posted: those that the
 * server has join their run, and those that a broken WebSocket did not carry begin.
 */
import { type Call, type GivenCalls, idsFor, newId, toBlock } from './calls.ts';
import { GauntletError } from './errors.ts';
import type { Executor, TurnOptions, TurnResult } from './executor.ts';
import type { Http } from './http.ts';
import { type StreamEvent, StreamReader } from './stream-calls.ts';
import type { ToolUseBlock } from './wire.ts';

/** A WebSocket, as browsers, Deno, Bun, Node 22 and the package `ws` have it. */
export interface WebSocketLike {
  send(text: string): void;
  close(code?: number): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void;
}

/** Opens a WebSocket. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

/** Calls that are kept while the WebSocket opens; further ones are posted when the message ends. */
const MAX_WAITING = 256;

/** Dependencies of the forwarding of a stream. */
export interface ForwardOptions {
  readonly http: Http;
  readonly sessionId: string;
  readonly executor: Executor;
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal;
  readonly WebSocket: WebSocketConstructor;
  /** Questions of the calls are denied, since nobody is there to answer. */
  readonly deniesQuestions: boolean;
}

/** A stream on its way through. It is read when the caller reads it. */
export class Forwarding<Event extends StreamEvent> {
  /** The stream, unchanged. */
  readonly events: AsyncGenerator<Event>;
  readonly #options: ForwardOptions;
  readonly #turn: TurnOptions;
  readonly #turnId: string;
  readonly #calls: Call[] = [];
  readonly #reader = new StreamReader();
  readonly #untrack: (() => void)[] = [];
  readonly #signals: readonly AbortSignal[];
  readonly #abort = () => void this.#discard();
  #socket: CallSocket | undefined;
  #isRead = false;

  constructor(stream: AsyncIterable<Event>, options: ForwardOptions, turn: TurnOptions) {
    this.#options = options;
    this.#turn = turn;
    this.#turnId = turn.turnId ?? newId('turn');
    this.#signals = turn.signal ? [options.closed, turn.signal] : [options.closed];
    this.events = this.#pass(stream);
  }

  /**
   * Read the stream to its end, where the caller has not, and wait for the results.
   *
   * @returns No result where the message holds no calls.
   * @throws {GauntletError}
   */
  async result(): Promise<{ readonly given: GivenCalls; readonly result?: TurnResult }> {
    for await (const _ of this.events);
    if (!this.#isRead)
      throw new GauntletError('cancelled', 'The stream was not read to its end: its calls were cancelled');
    const given: GivenCalls = { provider: this.#reader.provider ?? 'anthropic', calls: this.#calls };
    if (this.#calls.length === 0) return { given };
    const { executor } = this.#options;
    // From here on the executor cancels what is aborted.
    this.#unlisten();
    try {
      const prepared = executor.prepare(given, this.#turnId);
      const result = await executor.execute(prepared, given, this.#turn).catch((error: unknown) => {
        if (!isEndedTurn(error)) throw error;
        // The WebSocket broke, and the turn ended with what it had carried: the rest is a turn of its own.
        return executor.execute({ ...prepared, turnId: newId('turn') }, given, this.#turn);
      });
      return { given, result };
    } finally {
      this.#end();
    }
  }

  async *#pass(stream: AsyncIterable<Event>): AsyncGenerator<Event> {
    try {
      for await (const event of stream) {
        for (const call of this.#reader.read(event)) this.#begin(call);
        if (this.#reader.isCalling) this.#open();
        yield event;
      }
      this.#isRead = true;
    } finally {
      // The message never ended, so its calls count as never made.
      if (!this.#isRead) await this.#discard();
    }
  }

  #begin(call: Call): void {
    const { executor } = this.#options;
    this.#calls.push(call);
    if (this.#isAborted) return;
    const id = idsFor(this.#calls, this.#turnId)[this.#calls.length - 1] ?? '';
    this.#open();
    this.#untrack.push(executor.track(id, call, this.#turn.onProgress));
    this.#socket?.send(toBlock(call, id));
  }

  /** Open the WebSocket, once. An abort takes the calls that it has carried with it. */
  #open(): void {
    if (this.#socket !== undefined || this.#isAborted) return;
    this.#socket = openSocket(this.#options, this.#turnId);
    for (const signal of this.#signals) signal.addEventListener('abort', this.#abort, { once: true });
  }

  get #isAborted(): boolean {
    return this.#signals.some(({ aborted }) => aborted);
  }

  #unlisten(): void {
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#abort);
  }

  async #discard(): Promise<void> {
    this.#socket?.discard();
    // A turn that the server does not know has nothing to cancel.
    if (this.#calls.length > 0) await this.#options.executor.cancel({ turn_id: this.#turnId }).catch(() => undefined);
    this.#end();
  }

  #end(): void {
    this.#unlisten();
    for (const untrack of this.#untrack) untrack();
    this.#socket?.close();
  }
}

/** True where blocks came too late for their turn. */
function isEndedTurn(error: unknown): boolean {
  return error instanceof GauntletError && error.code === 'conflict' && error.details?.['reason'] === 'turn_ended';
}

interface CallSocket {
  send(block: ToolUseBlock): void;
  discard(): void;
  close(): void;
}

/** Open the WebSocket. Its failure costs time alone: what it does not carry is posted. */
function openSocket({ http, sessionId, WebSocket, deniesQuestions }: ForwardOptions, turnId: string): CallSocket {
  const ids = new Set<string>();
  const waiting: string[] = [];
  let socket: WebSocketLike | undefined;
  let isLive = false;
  let isClosed = false;

  const send = (frame: object) => {
    const text = JSON.stringify(frame);
    if (isLive) socket?.send(text);
    else if (waiting.length < MAX_WAITING && !isClosed) waiting.push(text);
  };

  async function open(): Promise<void> {
    const session_id = sessionId;
    const { ticket } = await http.request<{ ticket: string }>('POST', '/tickets', { body: { session_id } });
    if (isClosed) return;
    const address = `${http.url.replace(/^http/, 'ws')}/sessions/${encodeURIComponent(sessionId)}/stream`;
    const opened = new WebSocket(address, ['gauntlet.v1', `gauntlet.ticket.${ticket}`]);
    socket = opened;
    opened.addEventListener('open', () => {
      if (isClosed) return opened.close(1000);
      opened.send(JSON.stringify({ type: 'hello', progress: false }));
      isLive = true;
      for (const text of waiting.splice(0)) opened.send(text);
    });
    opened.addEventListener('message', ({ data }) => {
      const frame = JSON.parse(String(data)) as { type: string; request_id: string; tool_use_id?: string };
      const isOurs = ids.has(frame.tool_use_id ?? '');
      if (frame.type !== 'permission_request' || !deniesQuestions || !isOurs) return;
      const message = 'nobody can be asked: connect() was given no "onAsk"';
      send({ type: 'permission_answer', request_id: frame.request_id, behavior: 'deny', message });
    });
    const end = () => void (isLive = false);
    opened.addEventListener('close', end);
    opened.addEventListener('error', end);
  }
  // What it would have carried is posted when the message ends, which says what is wrong.
  open().catch(() => undefined);

  return {
    send(block) {
      ids.add(block.id);
      send({ type: 'tool_use', turn_id: turnId, tool_use: block });
    },
    discard: () => send({ type: 'discard', turn_id: turnId }),
    close() {
      isClosed = true;
      isLive = false;
      socket?.close(1000);
    },
  };
}
