/**
 * Executes turns: sends their blocks, waits for the results through cut connections, and cancels what is aborted.
 */
import { type Call, type GivenCalls, idsFor, newId, toBlock } from './calls.ts';
import { GauntletError } from './errors.ts';
import { type Events, followEvents } from './events.ts';
import { type Http, pause } from './http.ts';
import { type CallName, createQuestions, type OnAsk, type Questions } from './questions.ts';
import type { CallSummary, Frame, NewMessage, Question, ToolResultBlock, ToolUseBlock } from './wire.ts';

/** Longest wait for the end of an aborted turn. */
const CANCEL_MS = 5_000;
/** Pause between two tries to cancel a turn that the server does not know yet. */
const CANCEL_PAUSE_MS = 50;
/** Longest wait for the last frames of a turn whose results are there. */
const LAST_FRAMES_MS = 1_000;

/** Gets each frame of the session, and the call of this client that it is about. */
export type OnProgress = (frame: Frame, call: CallName | undefined) => void;

/** Options of a turn. */
export interface TurnOptions {
  /** Cancels the calls on the server, then rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Names the turn: the same calls in the same turn run once. Absent: a new turn. */
  readonly turnId?: string;
  /** Longest time that a question stays open, in milliseconds. */
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
  /** By call: the yes of the client's own person. */
  readonly approvals?: readonly (Approval | undefined)[];
}

/** Facts that a yes is bound to: the call as it was explained, and the permissions at that time. */
export interface Approval {
  readonly digest: string;
  readonly context_version: number;
}

/** Options of `createExecutor`. */
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

/** Executes the turns of one session. */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #questions: Questions | undefined;
  readonly #events: Events;
  /** Calls whose frames are read, by the server's id. */
  readonly #tracked = new Map<string, CallName & { readonly listener?: OnProgress }>();
  /** By id of the turn: called with its last frame. */
  readonly #turnEnds = new Map<string, () => void>();
  #hasAskedOpen: boolean;

  constructor(options: ExecutorOptions) {
    const { http, sessionId, head, onAsk } = options;
    this.#options = options;
    this.#questions = onAsk && createQuestions(http, sessionId, onAsk, (frame) => this.#nameOf(frame));
    this.#events = followEvents(http, sessionId, head, (frame) => this.#take(frame));
    this.#hasAskedOpen = !options.isOld;
  }

  /** Give calls their ids. @throws {GauntletError} `invalid_request` */
  prepare({ calls, content }: GivenCalls, turnId = newId('turn')): PreparedTurn {
    if (!/^[A-Za-z0-9_-]{1,120}$/.test(turnId)) {
      const message = `"turnId" is ${JSON.stringify(turnId)}: use 1 to 120 of A-Z a-z 0-9 _ -`;
      throw new GauntletError('invalid_request', message);
    }
    const ids = idsFor(calls, turnId);
    const blocks = calls.map((call, index) => toBlock(call, ids[index] ?? ''));
    if (content === undefined) return { turnId, blocks, body: { tool_uses: blocks } };
    const rest = [...blocks];
    const sent = content.map((block) => (block.type === 'tool_use' ? rest.shift() : block));
    return { turnId, blocks, body: { message: { role: 'assistant', content: sent } } };
  }

  /** Read the frames of a call, where somebody wants them. @returns A function that ends that. */
  track(id: string, call: Call, listener: OnProgress | undefined): () => void {
    this.#tracked.set(id, { id: call.id ?? id, name: call.name, listener });
    const release = this.#isWanted(listener) ? this.#events.hold() : undefined;
    return () => {
      this.#tracked.delete(id);
      release?.();
    };
  }

  /** Execute a turn and wait for its results. @throws {GauntletError} The reason of a signal that aborts. */
  async execute(prepared: PreparedTurn, { calls }: GivenCalls, turn: TurnOptions): Promise<TurnResult> {
    const { turnId, blocks, body, listeners = [], approvals = [] } = prepared;
    const { http, sessionId, closed, onAsk } = this.#options;
    const signals = turn.signal ? [closed, turn.signal] : [closed];
    for (const signal of signals) signal.throwIfAborted();
    const untrack = blocks.map(({ id, name }, index) =>
      this.track(id, calls[index] ?? { name, input: {} }, listeners[index] ?? turn.onProgress),
    );
    const ended = new Promise<void>((resolve) => this.#turnEnds.set(turnId, resolve));
    const handedIn = blocks.flatMap(({ id }, index) => {
      const approval = approvals[index];
      return approval ? [{ tool_use_id: id, ...approval }] : [];
    });
    const sent = {
      ...{ session_id: sessionId, turn_id: turnId },
      ...body,
      ...(handedIn.length > 0 && { approvals: handedIn }),
      ...(onAsk && { on_ask: 'wait' }),
      ...(turn.askTimeoutMs !== undefined && { ask_timeout_ms: turn.askTimeoutMs }),
    };
    try {
      await this.#askOpen();
      const result = await untilAborted(
        (signal) => http.request<TurnResult>('POST', '/execute', { body: sent, signal }),
        signals,
        () => this.cancel({ turn_id: turnId }),
      );
      // A turn that only repeats what is known does not end once more.
      const mayEnd = result.calls.some(({ replayed }) => !replayed);
      const isWatched = this.#isWanted(turn.onProgress) || listeners.some(Boolean);
      if (mayEnd && isWatched) await within(ended, LAST_FRAMES_MS);
      return result;
    } finally {
      this.#turnEnds.delete(turnId);
      for (const end of untrack) end();
    }
  }

  /** Cancel a call, or a turn. @throws {GauntletError} */
  cancel(target: { readonly tool_use_id: string } | { readonly turn_id: string }): Promise<void> {
    const { http, sessionId } = this.#options;
    return http.request('POST', `/sessions/${encodeURIComponent(sessionId)}/cancel`, { body: target });
  }

  close(): void {
    this.#events.close();
    this.#questions?.close();
  }

  #isWanted(listener: OnProgress | undefined): boolean {
    return Boolean(this.#options.onAsk ?? this.#options.onProgress ?? listener);
  }

  /** Ask what was open before this client came, once. */
  async #askOpen(): Promise<void> {
    if (this.#hasAskedOpen || !this.#questions) return;
    this.#hasAskedOpen = true;
    await this.#questions.askOpen();
  }

  #take(frame: Frame): void {
    this.#questions?.take(frame);
    const call = this.#nameOf(frame);
    for (const tell of [this.#options.onProgress, call?.listener]) {
      try {
        tell?.(frame, call && { id: call.id, name: call.name });
      } catch (error) {
        // A mistake in the caller's function must neither end the reading nor stay unseen.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    if (frame.type === 'turn_end') this.#turnEnds.get(frame.turn_id)?.();
  }

  #nameOf(frame: Frame | Question) {
    const id = 'tool_use_id' in frame ? frame.tool_use_id : frame.type === 'tool_use' ? frame.tool_use.id : undefined;
    const parentId = 'parent_tool_use_id' in frame ? frame.parent_tool_use_id : undefined;
    return this.#tracked.get(id ?? '') ?? this.#tracked.get(parentId ?? '');
  }
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
