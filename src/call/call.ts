/**
 * One block's journey: parse → gate → run → result. What it comes to is logged by its session.
 */
import type { AssistantMessage } from '../contract/blocks.ts';
import type { CanUseTool, ToolProgress, ToolUseContext } from '../contract/tool.ts';
import { abortReason } from './abort-reason.ts';
import { answerForInnerCalls } from './inner-calls.ts';
import { callErrorCode, callErrorText, type CallOutcome, failedOutcome } from './outcome.ts';
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

/** Take a parsed call to its end; rejects only for a fault of our own. */
export async function runCall(
  call: ParsedCall,
  context: ToolUseContext,
  parentMessage: AssistantMessage,
  services: CallServices,
): Promise<CallOutcome> {
  const permitted = await passGate(call, context, services);
  if ('status' in permitted) return permitted;

  const seen: ToolProgress[] = [];
  const canUseTool: CanUseTool = answerForInnerCalls(services);
  const run = await runTool(
    permitted,
    { ...context, located: permitted.located },
    {
      canUseTool,
      parentMessage,
      abandonMs: services.limits.abandonMs,
      onProgress: (progress) => {
        if (seen.push(progress) > services.limits.progressKept) seen.shift();
        services.onProgress(progress);
      },
    },
  );
  return mapResult(permitted, run, seen, services.limits);
}

/** The gate, with an abort or a throwing tool turned into an outcome. */
async function passGate(
  call: ParsedCall,
  context: ToolUseContext,
  services: CallServices,
): Promise<PermittedCall | CallOutcome> {
  try {
    const permitted = await gate(call, context, services);
    if ('status' in permitted) return permitted;
    await services.admitted(permitted);
    context.signal.throwIfAborted();
    return permitted;
  } catch (error) {
    const cause = context.signal.aborted ? abortReason(context.signal) : error;
    return failedOutcome(callErrorCode(cause), callErrorCode(cause) === 'discarded' ? '' : callErrorText(cause));
  }
}
