/**
 * Runs single calls. Calls that are made at once, as SDKs make those of one message, become one turn: the server keeps
 * their order, runs in parallel what may, and cancels what follows a command that failed.
 */
import type { Call } from './calls.ts';
import { GauntletError } from './errors.ts';
import type { Approval, Executor, OnProgress, TurnResult } from './executor.ts';
import { textOf } from './replies.ts';
import type { CallSummary, ResultContentBlock, ToolResultBlock } from './wire.ts';

/** Calls of one turn: the most that the server takes. */
const MAX_TURN_CALLS = 256;

/** Options of a single call. */
export interface RunOptions {
  /** The provider's id of the call. */
  readonly id?: string;
  /** Cancels the call on the server, then rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Gets the frames of the call. */
  readonly onProgress?: OnProgress;
  /** The yes of a person whom the caller asked about this call: `approval` of `explain`. */
  readonly approval?: Approval;
}

/** Outcome of a single call. */
export interface RunResult {
  /** For the model; what the tool adds to the conversation stands behind its result. */
  readonly content: string | readonly ResultContentBlock[];
  /** The text of the content. */
  readonly text: string;
  readonly isError: boolean;
  readonly call: CallSummary;
}

interface Waiting {
  readonly call: Call;
  readonly options: RunOptions;
  resolve(result: RunResult): void;
  reject(error: unknown): void;
}

/** Runs single calls of one session. */
export class Runner {
  readonly #executor: Executor;
  #waiting: Waiting[] = [];

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  /** As `Client.run`. */
  async run(name: string, input: unknown, options: RunOptions = {}): Promise<RunResult> {
    const { id, signal } = options;
    signal?.throwIfAborted();
    let end: (() => void) | undefined;
    try {
      return await new Promise<RunResult>((resolve, reject) => {
        end = () => reject(signal?.reason as Error);
        signal?.addEventListener('abort', end, { once: true });
        this.#waiting.push({ call: { id, name, input }, options, resolve, reject });
        if (this.#waiting.length === 1) setTimeout(() => void this.#flush(), 0);
        else if (this.#waiting.length === MAX_TURN_CALLS) void this.#flush();
      });
    } finally {
      if (end) signal?.removeEventListener('abort', end);
    }
  }

  /** Execute what waits as one turn. Each call is told its end; none rejects here. */
  async #flush(): Promise<void> {
    const batch = this.#waiting.filter(({ options }) => !options.signal?.aborted);
    this.#waiting = [];
    if (batch.length === 0) return;
    try {
      const result = await this.#executeChanged(batch);
      settle(batch, result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /**
   * Execute the calls. One that comes with another input under an id that ran is a new call: the provider numbers anew, or
   * a person edited it. It gets an id of its own; the others keep theirs, so that none runs twice.
   */
  async #executeChanged(batch: readonly Waiting[]): Promise<TurnResult> {
    let calls: readonly Call[] = batch.map(({ call }) => call);
    for (;;) {
      try {
        return await this.#execute(batch, calls);
      } catch (error) {
        const changed = changedId(error);
        if (changed === undefined || !calls.some(({ id }) => id === changed)) throw error;
        calls = calls.map((call) => (call.id === changed ? { name: call.name, input: call.input } : call));
      }
    }
  }

  async #execute(batch: readonly Waiting[], calls: readonly Call[]): Promise<TurnResult> {
    const given = { provider: 'anthropic', calls } as const;
    const prepared = this.#executor.prepare(given);
    const ending = new AbortController();
    const listened = batch.map(({ options: { signal } }, index) => {
      const end = () => {
        // The last one takes the turn with it.
        if (batch.every(({ options }) => options.signal?.aborted)) return ending.abort(signal?.reason);
        // The turn goes on, and tells of everything else.
        this.#executor.cancel({ tool_use_id: prepared.blocks[index]?.id ?? '' }).catch(() => undefined);
      };
      if (signal?.aborted) end();
      signal?.addEventListener('abort', end, { once: true });
      return () => signal?.removeEventListener('abort', end);
    });
    const listeners = batch.map(({ options }) => options.onProgress);
    const approvals = batch.map(({ options }) => options.approval);
    try {
      return await this.#executor.execute({ ...prepared, listeners, approvals }, given, { signal: ending.signal });
    } finally {
      for (const end of listened) end();
    }
  }
}

/** Hand each call its result. What tools add to the conversation stands behind the last one. */
function settle(batch: readonly Waiting[], turn: TurnResult): void {
  const added = (turn.new_messages ?? []).map(({ content }) => content);
  batch.forEach(({ resolve, reject }, index) => {
    const result = turn.results[index];
    const call = turn.calls[index];
    if (!result || !call) return reject(new GauntletError('invalid_reply', 'The reply has no result of the call'));
    const behind = index === batch.length - 1 ? added : [];
    const content = behind.length === 0 ? result.content : [result.content, ...behind].flatMap(toBlocks);
    resolve({ content, text: textOf(content), isError: result.is_error === true, call });
  });
}

/** Return the id of a call that ran with another input before, if the server refused the turn for that. */
function changedId(error: unknown): unknown {
  const isChanged = error instanceof GauntletError && error.details?.['reason'] === 'input_changed';
  return isChanged ? error.details?.['tool_use_id'] : undefined;
}

function toBlocks(content: ToolResultBlock['content']): readonly ResultContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
