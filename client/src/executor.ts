/**
 * Executes turns: sends their blocks, waits for the results through cut connections, and cancels what is aborted.
 */
import { type Call, type GivenCalls, idsFor, newId, toBlocks } from './calls.ts';
import { GauntletError } from './errors.ts';
import { followEvents } from './events.ts';
import { type Http, pause } from './http.ts';
import { hasNull, withoutOptionalNulls } from './optional-nulls.ts';
import { type CallName, createQuestions, type OnAsk } from './questions.ts';
import type { CallSummary, Frame, NewMessage, Question, ToolResultBlock, ToolUseBlock } from './wire.ts';

/** How long the end of an aborted turn is waited for. */
const CANCEL_MS = 5_000;
/** Pause between two tries to cancel a turn that the server does not know yet. */
const CANCEL_PAUSE_MS = 50;
/** How long the last frames of a turn are waited for, whose results are there. */
const LAST_FRAMES_MS = 1_000;
/** Schemas that are kept, to know which fields are optional. */
const MAX_SCHEMAS = 1_000;

/** Gets each frame of the session, and the call of this client that it is about. */
export type OnProgress = (frame: Frame, call: CallName | undefined) => void;

/** How a turn is executed. */
export interface TurnOptions {
  /** Cancels the calls on the server, then rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Names the turn: the same calls in the same turn run once. Absent: a new turn. */
  readonly turnId?: string;
  /** How long a question may stay open, in milliseconds. */
  readonly askTimeoutMs?: number;
  /** Gets the frames of this turn's calls. */
  readonly onProgress?: OnProgress;
}

/** The results of a turn, with the ids of the server. */
export interface TurnResult {
  readonly session_id: string;
  readonly turn_id: string;
  readonly results: readonly ToolResultBlock[];
  readonly calls: readonly CallSummary[];
  readonly new_messages?: readonly NewMessage[];
}

/** Blocks that are ready to be sent. */
export interface PreparedTurn {
  readonly turnId: string;
  readonly blocks: readonly ToolUseBlock[];
  readonly body: object;
  /** By call: who gets its frames, beside those who get the frames of the turn. */
  readonly listeners?: readonly (OnProgress | undefined)[];
}

/** Executes the turns of one session. */
export interface Executor {
  /** Give calls their ids, and leave out optional nulls. */
  prepare(given: GivenCalls, options: TurnOptions): Promise<PreparedTurn>;
  /** Make the block of one call of a turn that is still being written. */
  prepareCall(call: Call, id: string): Promise<ToolUseBlock>;
  /** Read the frames of a call, where somebody wants them. @returns A function that ends that. */
  track(id: string, call: Call, listener: OnProgress | undefined): () => void;
  execute(turn: PreparedTurn, given: GivenCalls, options: TurnOptions): Promise<TurnResult>;
  /** Cancel a call, or a turn. @throws {GauntletError} */
  cancel(target: { readonly tool_use_id: string } | { readonly turn_id: string }): Promise<void>;
  close(): void;
}

/** What an executor is made of. */
export interface ExecutorOptions {
  readonly http: Http;
  readonly sessionId: string;
  /** Frames up to here are not looked at. */
  readonly head: number;
  /** True where the session may have open questions. */
  readonly isOld: boolean;
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal;
  readonly onAsk?: OnAsk;
  readonly onProgress?: OnProgress;
}

/** Create the executor of a session. */
export function createExecutor(options: ExecutorOptions): Executor {
  const { http, sessionId, closed, onAsk, onProgress } = options;
  const running = new Map<string, CallName & { readonly onProgress?: OnProgress }>();
  const turnEnds = new Map<string, () => void>();
  const nameOf = (frame: Frame | Question) =>
    ('tool_use_id' in frame && running.get(frame.tool_use_id ?? '')) ||
    ('parent_tool_use_id' in frame && running.get(frame.parent_tool_use_id ?? '')) ||
    undefined;
  const questions = onAsk && createQuestions(http, sessionId, onAsk, nameOf);
  const events = followEvents(http, sessionId, options.head, take);
  const schemaOf = createSchemas(http, sessionId);
  let hasAskedOpen = !options.isOld;

  function take(frame: Frame): void {
    questions?.take(frame);
    const call = nameOf(frame);
    // A mistake in the caller's function must neither end the reading nor stay unseen.
    for (const tell of [onProgress, call?.onProgress]) {
      try {
        tell?.(frame, call && { id: call.id, name: call.name });
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    if (frame.type === 'turn_end') turnEnds.get(frame.turn_id)?.();
  }

  async function prepareInput({ name, input }: Call): Promise<unknown> {
    return hasNull(input) ? withoutOptionalNulls(input, await schemaOf(name)) : input;
  }

  function track(id: string, call: Call, listener: OnProgress | undefined): () => void {
    running.set(id, { id: call.id ?? id, name: call.name, onProgress: listener });
    const release = (onAsk ?? onProgress ?? listener) ? events.hold() : undefined;
    return () => {
      running.delete(id);
      release?.();
    };
  }

  return {
    async prepare({ calls, content }, { turnId = newId('turn') }) {
      if (!/^[A-Za-z0-9_-]{1,120}$/.test(turnId))
        throw new GauntletError(
          'invalid_request',
          `"turnId" is ${JSON.stringify(turnId)}: use 1 to 120 of A-Z a-z 0-9 _ -`,
        );
      const ids = idsFor(calls, turnId);
      const blocks = toBlocks(calls, ids, await Promise.all(calls.map(prepareInput)));
      if (content === undefined) return { turnId, blocks, body: { tool_uses: blocks } };
      const rest = [...blocks];
      const sent = content.map((block) => (block.type === 'tool_use' ? rest.shift() : block));
      return { turnId, blocks, body: { message: { role: 'assistant', content: sent } } };
    },

    async prepareCall(call, id) {
      return { type: 'tool_use', id, name: call.name, input: await prepareInput(call) } as ToolUseBlock;
    },

    async execute({ turnId, blocks, body, listeners = [] }, { calls }, turn) {
      const signals = turn.signal ? [closed, turn.signal] : [closed];
      for (const signal of signals) signal.throwIfAborted();
      const untrack = blocks.map(({ id, name }, index) =>
        track(id, calls[index] ?? { name, input: {} }, listeners[index] ?? turn.onProgress),
      );
      const isWatched = Boolean(onAsk ?? onProgress ?? turn.onProgress) || listeners.some(Boolean);
      const ended = new Promise<void>((resolve) => turnEnds.set(turnId, resolve));
      try {
        if (questions && !hasAskedOpen) {
          hasAskedOpen = true;
          await questions.askOpen();
        }
        const sent = {
          session_id: sessionId,
          turn_id: turnId,
          ...body,
          ...(onAsk && { on_ask: 'wait' }),
          ...(turn.askTimeoutMs !== undefined && { ask_timeout_ms: turn.askTimeoutMs }),
        };
        const result = await untilAborted(
          (requestSignal) => http.request<TurnResult>('POST', '/execute', { body: sent, signal: requestSignal }),
          signals,
          () => cancel(http, sessionId, { turn_id: turnId }),
        );
        // A turn that only repeats what is known does not end once more.
        const mayEnd = isWatched && result.calls.some(({ replayed }) => !replayed);
        if (mayEnd) await within(ended, LAST_FRAMES_MS);
        return result;
      } finally {
        turnEnds.delete(turnId);
        for (const end of untrack) end();
      }
    },

    track,

    cancel: (target) => cancel(http, sessionId, target),

    close() {
      events.close();
      questions?.close();
    },
  };
}

function cancel(http: Http, sessionId: string, body: object): Promise<void> {
  return http.request('POST', `/sessions/${encodeURIComponent(sessionId)}/cancel`, { body });
}

/**
 * Send a request. When a signal aborts, its calls are cancelled first, which ends the request; the connection is given
 * up after that.
 *
 * @throws The signal's reason.
 */
async function untilAborted<Reply>(
  send: (signal: AbortSignal) => Promise<Reply>,
  signals: readonly AbortSignal[],
  cancelCalls: () => Promise<void>,
): Promise<Reply> {
  const connection = new AbortController();
  const reply = send(connection.signal);
  let isSettled = false;
  const end = async (reason: unknown) => {
    const settle = () => void (isSettled = true);
    const settled = reply.then(settle, settle);
    const deadlineMs = Date.now() + CANCEL_MS;
    while (!isSettled && Date.now() < deadlineMs) {
      // The server may not have read the request yet, and knows no such turn then.
      const isUnknown = (error: unknown) => error instanceof GauntletError && error.status === 404;
      const isCancelled = cancelCalls().then(
        () => true,
        (error: unknown) => !isUnknown(error),
      );
      if (await within(isCancelled, CANCEL_MS)) break;
      await pause(CANCEL_PAUSE_MS);
    }
    await within(settled, deadlineMs - Date.now());
    connection.abort(reason);
  };
  const listen = ({ target }: Event) => void end((target as AbortSignal).reason);
  // Not `AbortSignal.any`: it would cost a tenth of a quick call.
  for (const signal of signals) signal.addEventListener('abort', listen, { once: true });
  try {
    return await reply;
  } finally {
    for (const signal of signals) {
      signal.removeEventListener('abort', listen);
      // Results of cancelled calls are none.
      signal.throwIfAborted();
    }
  }
}

/** Wait for a promise, at most so long. @returns Its value; `undefined` when it took longer. */
async function within<Value>(promise: Promise<Value>, milliseconds: number): Promise<Value | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([promise, pause(Math.max(0, milliseconds), timer.signal).then(() => undefined)]);
  } finally {
    timer.abort();
  }
}

/** Create the function that finds the schema of a tool; `undefined` for one that the session does not see. */
function createSchemas(http: Http, sessionId: string): (name: string) => Promise<object | undefined> {
  const schemas = new Map<string, Promise<object | undefined>>();
  return (name) => {
    const known = schemas.get(name);
    if (known !== undefined) return known;
    const path = `/tools/${encodeURIComponent(name)}?session_id=${encodeURIComponent(sessionId)}`;
    const schema = http.request<{ input_schema: object }>('GET', path).then(
      ({ input_schema }) => input_schema,
      () => {
        // The call itself is told what is wrong; the next one looks again.
        schemas.delete(name);
        return undefined;
      },
    );
    if (schemas.size >= MAX_SCHEMAS) schemas.clear();
    schemas.set(name, schema);
    return schema;
  };
}
