/**
 * Runs one call from its parsed block to its outcome: gate → run → result → hooks. The session logs the outcome.
 */
import type { OpenChild, RunInnerCall } from '../tool/inner-call.ts';
import type { Invocation } from '../tool/invocation.ts';
import type { ContextModifier } from '../tool/session-context.ts';
import type { CanUseTool, ToolProgress, ToolUseContext } from '../tool/tool.ts';
import type { AssistantMessage } from '../wire/blocks.ts';
import { resultText } from '../wire/result-text.ts';
import { afterCall } from './after-call.ts';
import { hookOccasion } from './call-hooks.ts';
import { gate, type GateServices, type Permit } from './gate.ts';
import { abortReason, type CallOutcome, type Ended, ended, stoppedOutcome, summariseDecision } from './outcome.ts';
import { parseInput } from './parse.ts';
import { mapResult, type ResultLimits } from './result.ts';
import { runTool, type ToolRun } from './run.ts';

/** Progress of one call that its own result may still draw; older pieces are dropped. */
const MAX_KEPT_PROGRESS = 50;

/** Services of the session that a call uses. */
export interface CallServices extends GateServices {
  readonly limits: ResultLimits & { readonly abandonMs: number };
  /**
   * Called when the gate is passed: the session logs the start of the call and, if the input became unsafe, waits until
   * nothing else runs.
   */
  admitted(permit: Permit): Promise<void>;
  onProgress(progress: ToolProgress): void;
  readonly runInner: RunInnerCall;
  readonly openChild: OpenChild;
  /** Distinct texts for the model, from hooks of the call's gate and of its inner calls. */
  readonly heard: Set<string>;
  /** Try a modifier of the context after the run. @throws {GauntletError} `tool_failed` if the session rejects it. */
  tryModifier(modifier: ContextModifier): void;
}

/** Run an invocation to its end, which follows soon after its signal; rejects only for internal errors. */
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
      if (progress.push(piece) > MAX_KEPT_PROGRESS) progress.shift();
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

/** Fail a call whose context modifier the session rejects, so that its hooks see a failure. */
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

/** Pass the gate, and convert an abort or a throwing tool to an outcome. */
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

/** Notify hooks without waiting: the denial is final. */
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
 * Wait for a call's work. A tool that ignores its signal is abandoned: its call ends, and its slot becomes free.
 *
 * @param graceMs Time after the signal for the work to end by itself.
 * @throws The error of the work; the signal's reason if it was abandoned.
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
 * Create the `canUseTool` function of a call. A hook that ends the turn ends that of the calling call.
 *
 * @param heard Collects distinct texts that hooks add for the model, which the calling call passes on.
 */
export function createCanUseTool(services: GateServices, heard: Set<string>): CanUseTool {
  return async (tool, raw, context) => {
    const block = { type: 'tool_use', id: context.toolUseId, name: tool.name, input: {} } as const;
    const parsed = parseInput(block, tool, raw, services);
    if (parsed.kind === 'end') return refusal(parsed.outcome);
    // Results of the outer call's gate apply only to its own input.
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
