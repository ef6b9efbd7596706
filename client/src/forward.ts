/**
 * Executes the calls of a model while it still writes them. The stream itself passes through unchanged.
 *
 * Over a WebSocket each call is sent when it is whole. When the message ends, the same calls are posted: those that the
 * server has join their run, and those that a broken WebSocket did not carry begin.
 */
import { type Call, type GivenCalls, idsFor, newId, type Provider } from './calls.ts';
import { GauntletError } from './errors.ts';
import type { Executor, TurnOptions, TurnResult } from './executor.ts';
import type { Http } from './http.ts';
import { createStreamReader, type StreamEvent } from './stream-calls.ts';
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

/** What the forwarding of a stream needs. */
export interface ForwardOptions {
  readonly http: Http;
  readonly sessionId: string;
  readonly executor: Executor;
  readonly WebSocket: WebSocketConstructor;
  /** Questions of the calls are denied, since nobody is there to answer. */
  readonly deniesQuestions: boolean;
}

/** A stream on its way through. */
export interface Forwarded<Event> extends AsyncIterable<Event> {
  /** Read the stream to its end, where the caller has not, and wait for the results. */
  result(): Promise<{
    readonly provider: Provider;
    readonly given: GivenCalls;
    readonly result: TurnResult | undefined;
  }>;
}

/** Forward a stream. It is read when the caller reads it. */
export function forwardStream<Event extends StreamEvent>(
  stream: AsyncIterable<Event>,
  options: ForwardOptions,
  turn: TurnOptions,
): Forwarded<Event> {
  const turnId = turn.turnId ?? newId('turn');
  const calls: Call[] = [];
  const reader = createStreamReader();
  let socket: CallSocket | undefined;
  let sending = Promise.resolve();
  const untrack: (() => void)[] = [];
  let isRead = false;

  async function* events(): AsyncGenerator<Event> {
    try {
      for await (const event of stream) {
        for (const call of reader.read(event)) begin(call);
        if (reader.isCalling) socket ??= openSocket(options, turnId);
        yield event;
      }
      isRead = true;
    } finally {
      // The message never ended, so its calls count as never made.
      if (!isRead) await discard();
    }
  }

  function begin(call: Call): void {
    calls.push(call);
    const id = idsFor(calls, turnId)[calls.length - 1] ?? '';
    socket ??= openSocket(options, turnId);
    untrack.push(options.executor.track(id, call, turn.onProgress));
    // In order: an input with nulls may wait for its schema.
    sending = sending.then(async () => socket?.send(await options.executor.prepareCall(call, id)));
  }

  async function discard(): Promise<void> {
    await sending.catch(() => undefined);
    socket?.discard();
    if (calls.length > 0) await options.executor.cancel({ turn_id: turnId }).catch(() => undefined);
    end();
  }

  function end(): void {
    for (const each of untrack) each();
    socket?.close();
  }

  const passing = events();
  return {
    [Symbol.asyncIterator]: () => passing,
    async result() {
      for await (const _ of passing);
      if (!isRead) throw new GauntletError('cancelled', 'The stream was not read to its end: its calls were cancelled');
      const given: GivenCalls = { provider: reader.provider ?? 'anthropic', calls };
      if (calls.length === 0) return { provider: given.provider, given, result: undefined };
      try {
        await sending;
        const prepared = await options.executor.prepare(given, { turnId });
        const result = await options.executor.execute(prepared, given, turn).catch(async (error: unknown) => {
          if (!isEndedTurn(error)) throw error;
          // The WebSocket broke, and the turn ended with what it had carried: the rest is a turn of its own.
          const rest = { ...prepared, turnId: newId('turn') };
          return options.executor.execute(rest, given, turn);
        });
        return { provider: given.provider, given, result };
      } finally {
        end();
      }
    },
  };
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
