/**
 * One block's journey: parse → gate → run → result. What it comes to is logged by its session.
 */
import { resultText, type AssistantMessage } from '../contract/blocks.ts';
import type { CanUseTool, ToolProgress, ToolUseContext } from '../contract/tool.ts';
import { abortReason } from './abort-reason.ts';
import { afterCall } from './after-call.ts';
import { unlessGivenUp } from './give-up.ts';
import { answerForInnerCalls } from './inner-calls.ts';
import { hookOccasion } from './hook-occasion.ts';
import { type CallOutcome, stoppedOutcome, summariseDecision } from './outcome.ts';
import { gate, type GateServices, type PermittedCall } from './gate.ts';
import type { ParsedCall } from './parse.ts';
import { mapResult, type ResultLimits } from './result.ts';
import { runTool } from './run.ts';

/** What a journey needs of its session. */
export interface CallServices extends GateServices {
  readonly limits: ResultLimits & { readonly abandonMs: number; readonly progressKept: number };
  /**
   * The gate is passed: the session makes the call's beginning durable, and, where the input became
   * unsafe on the way, waits until nothing else runs.
   */
  admitted(call: PermittedCall): Promise<void>;
  onProgress(progress: ToolProgress): void;
}

/** Take a parsed call to its end, which comes soon after its signal; rejects only for a fault of our own. */
export async function runCall(
  call: ParsedCall,
  context: ToolUseContext,
  parentMessage: AssistantMessage,
  services: CallServices,
): Promise<CallOutcome> {
  const { signal } = context;
  try {
    return await unlessGivenUp(travel(call, context, parentMessage, services), signal, services.limits.abandonMs);
  } catch (error) {
    if (!signal.aborted) throw error;
    return stoppedOutcome(abortReason(signal));
  }
}

async function travel(
  call: ParsedCall,
  context: ToolUseContext,
  parentMessage: AssistantMessage,
  services: CallServices,
): Promise<CallOutcome> {
  const permitted = await passGate(call, context, services);
  if ('status' in permitted) return permitted;

  const seen: ToolProgress[] = [];
  const heard = new Set(permitted.hookContexts);
  const canUseTool: CanUseTool = answerForInnerCalls(services, heard);
  const run = await runTool(
    permitted,
    { ...context, located: permitted.located, isHeld: permitted.decision.containment === 'jail' },
    {
      canUseTool,
      parentMessage,
      onProgress: (progress) => {
        if (seen.push(progress) > services.limits.progressKept) seen.shift();
        services.onProgress(progress);
      },
    },
  );
  const mapped = mapResult(permitted, run, seen, services.limits);
  const outcome = services.hooks
    ? await afterCall({ ...permitted, hookContexts: [...heard] }, run, mapped, context, services)
    : mapped;
  return { ...outcome, decided: summariseDecision(permitted.decision) };
}

/** The gate, with an abort or a throwing tool turned into an outcome. */
async function passGate(
  call: ParsedCall,
  context: ToolUseContext,
  services: CallServices,
): Promise<PermittedCall | CallOutcome> {
  try {
    const permitted = await gate(call, context, services);
    if ('status' in permitted) {
      tellDenied(call, permitted, context, services);
      return permitted;
    }
    await services.admitted(permitted);
    context.signal.throwIfAborted();
    return permitted;
  } catch (error) {
    return stoppedOutcome(context.signal.aborted ? abortReason(context.signal) : error);
  }
}

/** Nobody waits for these hooks: the answer stands. */
function tellDenied(
  call: ParsedCall,
  outcome: CallOutcome,
  context: ToolUseContext,
  { hooks, locate }: CallServices,
): void {
  if (outcome.errorCode !== 'permission_denied' || !hooks?.has('PermissionDenied')) return;
  hooks.tell(hookOccasion('PermissionDenied', call, context, locate, { reason: resultText(outcome.content) }));
}
