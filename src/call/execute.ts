/**
 * One call, from its parsed block to its outcome: gate → run → result → hooks. Its session logs what it comes to.
 */
import type { OpenChild, RunInnerCall } from '../tool/inner-call.ts';
import type { Invocation } from '../tool/invocation.ts';
import type { ContextModifier } from '../tool/session-context.ts';
import type { CanUseTool, ToolProgress, ToolUseContext } from '../tool/tool.ts';
import { type AssistantMessage, resultText } from '../wire/blocks.ts';
import { afterCall } from './after-call.ts';
import { hookOccasion } from './call-hooks.ts';
import { gate, type GateServices, type Permit } from './gate.ts';
import { abortReason, type CallOutcome, type Ended, ended, stoppedOutcome, summariseDecision } from './outcome.ts';
import { parseInput } from './parse.ts';
import { mapResult, type ResultLimits } from './result.ts';
import { runTool, type ToolRun } from './run.ts';

/** What a call needs of its session. */
export interface CallServices extends GateServices {
  readonly limits: ResultLimits & { readonly abandonMs: number; readonly progressKept: number };
  /**
   * The gate is passed: the session makes the call's beginning durable, and, where the input became
   * unsafe on the way, waits until nothing else runs.
   */
  admitted(permit: Permit): Promise<void>;
  onProgress(progress: ToolProgress): void;
  readonly runInner: RunInnerCall;
  readonly openChild: OpenChild;
  /** What hooks of the call's gate and of its inner calls add for the model, each once. */
  readonly heard: Set<string>;
  /** Try what a call that has run would make of the context. @throws {GauntletError} `tool_failed` where it may not. */
  tryModifier(modifier: ContextModifier): void;
}

/** Take an invocation to its end, which comes soon after its signal; rejects only for a fault of our own. */
export async function execute(
  invocation: Invocation,
  context: ToolUseContext,
  parentMessage: AssistantMessage,
  services: CallServices,
): Promise<CallOutcome> {
  const { signal } = context;
  try {
    const work = takeSteps(invocation, context, parentMessage, services);
    return await unlessGivenUp(work, signal, services.limits.abandonMs);
  } catch (error) {
    if (!signal.aborted) throw error;
    return stoppedOutcome(abortReason(signal));
  }
}

async function takeSteps(
  invocation: Invocation,
  context: ToolUseContext,
  parentMessage: AssistantMessage,
  services: CallServices,
): Promise<CallOutcome> {
  const passed = await passGate(invocation, context, services);
  if (passed.kind === 'end') return passed.outcome;

  const { invocation: permitted, located, decision } = passed;
  const progress: ToolProgress[] = [];
  const { heard } = services;
  for (const text of passed.hookContexts ?? []) heard.add(text);
  const inside: ToolUseContext = {
    ...context,
    located,
    isHeld: decision.containment === 'jail',
    analysis: permitted.analysis,
    run: services.runInner,
    openChild: services.openChild,
  };
  const ran = await runTool(passed, inside, {
    canUseTool: createCanUseTool(services, heard),
    parentMessage,
    onProgress(piece) {
      if (progress.push(piece) > services.limits.progressKept) progress.shift();
      services.onProgress(piece);
    },
  });
  const run = withTriedModifier(ran, services);
  const mapped = mapResult(permitted, run, progress, services.limits);
  const outcome = services.hooks
    ? await afterCall({ ...passed, hookContexts: [...heard] }, run, mapped, context, services)
    : mapped;
  return { ...outcome, decided: summariseDecision(decision) };
}

/** A call that asks for a context its session may not have has failed, and its hooks hear of it as of any failure. */
function withTriedModifier(run: ToolRun, services: CallServices): ToolRun {
  if (!run.ok) return run;
  try {
    const { contextModifier } = run.result;
    if (contextModifier) services.tryModifier(contextModifier);
    return run;
  } catch (error) {
    return { ok: false, error };
  }
}

/** The gate, with an abort or a throwing tool turned into an outcome. */
async function passGate(
  invocation: Invocation,
  context: ToolUseContext,
  services: CallServices,
): Promise<Permit | Ended> {
  try {
    const passed = await gate(invocation, context, services);
    if (passed.kind === 'end') {
      tellDenied(invocation, passed.outcome, context, services);
      return passed;
    }
    await services.admitted(passed);
    context.signal.throwIfAborted();
    return passed;
  } catch (error) {
    return ended(stoppedOutcome(context.signal.aborted ? abortReason(context.signal) : error));
  }
}

/** Nobody waits for these hooks: the answer stands. */
function tellDenied(
  invocation: Invocation,
  { errorCode, content }: CallOutcome,
  context: ToolUseContext,
  { hooks, locate }: CallServices,
): void {
  if (errorCode !== 'permission_denied' || !hooks?.has('PermissionDenied')) return;
  hooks.tell(hookOccasion('PermissionDenied', invocation, context, locate, { reason: resultText(content) }));
}

/**
 * Wait for a call's work. A tool that does not listen to its signal is given up: its call ends, and its place is free.
 *
 * @param graceMs How long after the signal it may still come to its own end.
 * @throws What the work rejects with; the signal's reason when it is given up.
 */
function unlessGivenUp<Result>(work: Promise<Result>, signal: AbortSignal, graceMs: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const arm = () => {
      timer = setTimeout(() => reject(abortReason(signal)), graceMs);
    };
    if (signal.aborted) arm();
    else signal.addEventListener('abort', arm, { once: true });
    const release = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', arm);
    };
    work.then(resolve, reject).finally(release);
  });
}

/**
 * Make the function that a tool is handed. A hook that ends the turn ends that of the call that asks.
 *
 * @param heard Gets what hooks add for the model, each once: the call that asks passes it on.
 */
export function createCanUseTool(services: GateServices, heard: Set<string>): CanUseTool {
  return async (tool, raw, context) => {
    const block = { type: 'tool_use', id: context.toolUseId, name: tool.name, input: {} } as const;
    const parsed = parseInput(block, tool, raw, services);
    if (parsed.kind === 'end') return refusal(parsed.outcome);
    // What the gate of the outer call judged holds for its own input alone.
    const own = { ...context, located: undefined, isHeld: undefined, analysis: undefined };
    const passed = await gate(parsed.invocation, own, services);
    if (passed.kind === 'end') {
      const { hookContexts = [], endsTurn } = passed.outcome;
      for (const text of hookContexts) heard.add(text);
      if (endsTurn !== undefined) context.abortTurn(endsTurn);
      return refusal(passed.outcome);
    }
    for (const text of passed.hookContexts ?? []) heard.add(text);
    return { ...passed.decision, behavior: 'allow', updatedInput: passed.invocation.input };
  };
}

function refusal({ content, decided, errorCode }: CallOutcome): Awaited<ReturnType<CanUseTool>> {
  const reason = decided?.reason ?? { type: errorCode === 'hook_blocked' ? 'hook' : 'tool' };
  return { behavior: 'deny', reason, message: resultText(content), suggestions: [], warnings: [] };
}
