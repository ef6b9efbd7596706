/**
 * The inner calls of one call: each is accepted, gated, run and logged like a block of the turn, and scheduled beside
 * its siblings by an executor of the outer call.
 *
 * The outer call keeps its slot while it waits for them. They end with it: those still running are cancelled.
 */
import { createHash } from 'node:crypto';
import { plainCopy } from '../../base/json.ts';
import { abortReason, type CallOutcome, failedOutcome, stoppedOutcome } from '../../call/outcome.ts';
import type { ToolUseBlock } from '../../wire/blocks.ts';
import { errorMessage, GauntletError } from '../../base/errors.ts';
import type { InnerBlock, InnerCallOptions, InnerResult } from '../../tool/inner-call.ts';
import { answersYes } from '../../tool/invocation.ts';
import type { ExecutorTurn, RunControl, RunnableCall, ScheduledCall } from '../../schedule/scheduled-call.ts';
import { type ExecutorEvents, StreamingToolExecutor } from '../../schedule/streaming-tool-executor.ts';
import type { ToolPool } from '../../pool/tool-pool.ts';
import type { SessionCore } from '../session-core.ts';
import { type AcceptedBlock, landAcceptance, toolUseFrame, traceBlock, MAX_SESSION_CALLS } from './acceptance.ts';
import type { Call } from './turn.ts';
import { durationOf, leaveWithResult } from './yield-results.ts';

/**
 * Calls inside calls: an agent that runs batches of batches has three levels, and a tool that calls itself ends here.
 */
export const MAX_DEPTH = 4;

/** Inner calls that one call runs at once; each level of nesting multiplies it. */
const MAX_CONCURRENCY = 10;

/** Inner calls that one call makes in all: a loop that never ends fills no log. */
const MAX_INNER_CALLS = 10_000;

/** Access of inner calls to their outer call. */
export interface OuterCall {
  readonly call: Call;
  readonly steps: RunControl;
  /** Collects texts that hooks of inner calls add for the model. */
  readonly heard: Set<string>;
  /** True once the outer call has ended and makes no more calls. */
  isOver(): boolean;
  /** End the turn after the outer call. */
  abortTurn(reason: string): void;
  /** Prepare a block for an executor. */
  prepare(core: SessionCore, call: Call, accepted: AcceptedBlock): RunnableCall;
}

/** Ids that the server makes, or takes from tools, need no quoting anywhere. */
const ID = /^[A-Za-z0-9_-]{1,128}$/;
/** Longest prefix from the outer call's id in the ids of inner calls; a longer one, or one of other characters, is replaced by its digest. */
const STEM_CHARS = 80;

/** The inner calls of one call. */
export class InnerCalls {
  readonly #core: SessionCore;
  readonly #outer: OuterCall;
  /** Created for the first inner call: most calls make none. */
  #executor: StreamingToolExecutor | undefined;
  /** Calls made before one of them failed are its siblings; later ones are not. */
  #siblings: ExecutorTurn | undefined;
  readonly #settling = new Map<Call, (result: InnerResult) => void>();
  readonly #underWay = new Set<Promise<InnerResult>>();
  #idsGiven = 0;
  #acceptedCount = 0;

  constructor(core: SessionCore, outer: OuterCall) {
    this.#core = core;
    this.#outer = outer;
  }

  /** As `RunInnerCall`. */
  run(block: InnerBlock, options: InnerCallOptions = {}): Promise<InnerResult> {
    const running = this.#run(block, options);
    // A tool need not await a call that it made; the rejection for an aborted outer call would then be unhandled.
    running.catch(() => undefined);
    return running;
  }

  /** End the inner calls, when the outer call is over. @returns Once all results are being written to the log. */
  async end(): Promise<void> {
    if (!this.#executor) return;
    this.#stop();
    await Promise.all(this.#underWay);
  }

  async #run({ name, input, id }: InnerBlock, { signal }: InnerCallOptions): Promise<InnerResult> {
    this.#refuseWhenOver();
    // If the outer call's own acceptance fails, the log must not contain its inner calls.
    await this.#outer.call.accepting;
    this.#refuseWhenOver();
    const toolUseId = this.#freeId(id);
    const plain = plainCopy(input);
    const refusal = typeof name === 'string' && plain ? this.#refusal(name) : malformed();
    if (refusal || !plain) return innerResult(toolUseId, refusal ?? malformed());

    const ending = this.#accept({ type: 'tool_use', id: toolUseId, name, input: plain.value }, signal);
    this.#underWay.add(ending);
    const result = await ending;
    this.#underWay.delete(ending);
    this.#outer.steps.signal.throwIfAborted();
    return result;
  }

  #refuseWhenOver(): void {
    this.#outer.steps.signal.throwIfAborted();
    if (this.#outer.isOver())
      throw new GauntletError('cancelled', 'Cannot run an inner call: the call that makes it has ended');
  }

  /** Choose an unused id; a client's block with an id generated here is rejected. */
  #freeId(wanted: string | undefined): string {
    const { ledger } = this.#core;
    const { toolUseId } = this.#outer.call;
    const digest = () => createHash('sha256').update(toolUseId).digest('base64url');
    const stem = toolUseId.length <= STEM_CHARS && ID.test(toolUseId) ? toolUseId : digest();
    const named = `${stem}-${wanted ?? ''}`;
    if (wanted !== undefined && ID.test(named) && !ledger.call(named)) return named;
    for (;;) {
      const id = `${stem}-${++this.#idsGiven}`;
      if (!ledger.call(id)) return id;
    }
  }

  /** Return the reason why a block is not accepted, if there is one. */
  #refusal(name: string): CallOutcome | undefined {
    if (depthOf(this.#core, this.#outer.call) >= MAX_DEPTH)
      return exhausted(name, `calls inside calls go ${MAX_DEPTH} levels deep at most`);
    if (this.#acceptedCount >= MAX_INNER_CALLS) return exhausted(name, `one call makes ${MAX_INNER_CALLS} at most`);
    if (this.#core.executor.unyieldedCount + this.#core.innerCalls.size >= MAX_SESSION_CALLS)
      return exhausted(name, `the session has ${MAX_SESSION_CALLS} calls waiting`);
    const { services, opened } = this.#core;
    if ((services.callsLeft?.(opened.principal) ?? Infinity) < 1)
      return exhausted(name, 'you may have no more calls at once; wait for some to end');
    return undefined;
  }

  #accept(block: ToolUseBlock, signal: AbortSignal | undefined): Promise<InnerResult> {
    const core = this.#core;
    const { toolUseId: parentId, turn, askPolicy, trace: outerTrace } = this.#outer.call;
    const executor = (this.#executor ??= this.#createExecutor());
    const { pool } = core;
    const tool = pool.lookupInner(block.name);
    const name = tool?.name ?? block.name;
    const index = this.#acceptedCount++;
    const trace = traceBlock(core, outerTrace?.origin(), { block, tool, turnId: turn.id });
    const call = core.ledger.addCall(turn.addInner(block, { name, index, parentId, askPolicy, trace }));
    core.innerCalls.add(call);
    return new Promise((resolve) => {
      const cancel = () => void call.cancel('Cancelled by the call that made it');
      this.#settling.set(call, (result) => {
        signal?.removeEventListener('abort', cancel);
        resolve(result);
      });
      landAcceptance(core, executor, [call], [toolUseFrame(tool, call, block)]).catch((error: unknown) =>
        this.#settle(call, innerResult(block.id, failedOutcome('tool_failed', errorMessage(error)))),
      );
      call.schedule(executor, this.#currentSiblings(executor), this.#prepare(call, block, pool));
      signal?.addEventListener('abort', cancel, { once: true });
      if (signal?.aborted) cancel();
    });
  }

  #createExecutor(): StreamingToolExecutor {
    const { events } = this.#core;
    const onState: ExecutorEvents['onState'] = (call, state) => {
      events.onState(call, state);
      // The calling tool receives the result at once, whatever the siblings do: results are not ordered.
      if (state === 'completed') queueMicrotask(() => void this.#leave(call));
    };
    const { steps } = this.#outer;
    steps.signal.addEventListener('abort', () => this.#stop(), { once: true });
    return new StreamingToolExecutor(
      { onState, onYield: () => undefined, onModifier: (modifier) => events.onModifier(modifier) },
      MAX_CONCURRENCY,
    );
  }

  #currentSiblings(executor: StreamingToolExecutor): ExecutorTurn {
    if (!this.#siblings || this.#siblings.node.abortedBy) this.#siblings = executor.openTurn();
    return this.#siblings;
  }

  /** Prepare a call. One that is not concurrency-safe runs alone, also with regard to the outer call's siblings. */
  #prepare(call: Call, block: ToolUseBlock, pool: ToolPool): RunnableCall {
    const { steps: outer, prepare } = this.#outer;
    const message = { role: 'assistant', content: [block] } as const;
    const runnable = prepare(this.#core, call, { block, message, pool });
    return {
      ...runnable,
      run: async (steps) => {
        if (!answersYes(() => runnable.isConcurrencySafe())) await outer.becomeAlone();
        if (steps.signal.aborted) return stoppedOutcome(abortReason(steps.signal));
        const becomeAlone = async () => {
          await steps.becomeAlone();
          await outer.becomeAlone();
        };
        return runnable.run({ ...steps, becomeAlone });
      },
    };
  }

  async #leave(scheduled: ScheduledCall): Promise<void> {
    const core = this.#core;
    const call = core.ledger.call(scheduled.runnable.toolUseId);
    const { outcome } = scheduled;
    if (!call || !outcome) return;
    for (const text of outcome.hookContexts ?? []) this.#outer.heard.add(text);
    if (outcome.endsTurn !== undefined) this.#endTurn(outcome.endsTurn);
    try {
      const fitted = await core.whileLeaving(() => leaveWithResult(core, call, outcome, durationOf(scheduled)));
      if (fitted) this.#settle(call, { ...innerResult(call.toolUseId, outcome), content: fitted.content });
    } catch (error) {
      core.services.onFault(error, 'An inner result could not leave');
      this.#settle(call, innerResult(call.toolUseId, failedOutcome('tool_failed', 'Internal error')));
    }
  }

  #settle(call: Call, result: InnerResult): void {
    this.#core.innerCalls.delete(call);
    this.#settling.get(call)?.(result);
    this.#settling.delete(call);
  }

  /** Apply the end of the turn, by a tool or hook, to the outer call's turn; the outer call itself may finish. */
  #endTurn(reason: string): void {
    this.#outer.abortTurn(reason);
    this.#executor?.end('cancelled', `Cancelled: ${reason}`);
  }

  #stop(): void {
    const { abortedBy } = this.#outer.steps.node;
    if (abortedBy) this.#executor?.end(abortedBy.code, abortedBy.message);
    else this.#executor?.end('cancelled', 'Cancelled: the call that made it has ended');
  }
}

/** Number of calls and sessions above a call. */
export function depthOf({ ledger, parent }: SessionCore, call: Call): number {
  let depth = parent?.depth ?? 0;
  for (let { parentId } = call; parentId !== undefined; parentId = ledger.call(parentId)?.parentId) depth++;
  return depth;
}

function malformed(): CallOutcome {
  return failedOutcome('invalid_input', 'Cannot run an inner call: its name is no text, or its input is not JSON');
}

function exhausted(name: string, bound: string): CallOutcome {
  return failedOutcome('resource_exhausted', `Cannot run "${name}" as an inner call: ${bound}`);
}

/** Convert an outcome for the tool that made the call. */
export function innerResult(
  toolUseId: string,
  { status, errorCode, content, data, newMessages }: CallOutcome,
): InnerResult {
  return { toolUseId, status, errorCode, content, data, newMessages };
}
