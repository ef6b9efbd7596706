/**
 * Step 3: the tool runs. Its progress goes out at once; its end, good or bad, goes on to step 4.
 */
import type { AssistantMessage } from '../contract/blocks.ts';
import type { CanUseTool, ToolProgress, ToolResult, ToolUseContext } from '../contract/tool.ts';
import { abortReason } from './abort-reason.ts';
import type { PermittedCall } from './gate.ts';

/** What a run needs beside its context. */
export interface RunServices {
  readonly canUseTool: CanUseTool;
  readonly parentMessage: AssistantMessage;
  onProgress(progress: ToolProgress): void;
}

/** How a run ended. */
export type ToolRun =
  | { readonly ok: true; readonly result: ToolResult<unknown> }
  /** What the tool threw, or why it was stopped. */
  | { readonly ok: false; readonly error: unknown };

/** Run a permitted call to its end; never rejects. */
export async function runTool(call: PermittedCall, context: ToolUseContext, services: RunServices): Promise<ToolRun> {
  const { tool, internalFields } = call;
  const input = internalFields ? { ...call.input, ...internalFields } : call.input;
  const { canUseTool, parentMessage, onProgress } = services;
  try {
    const result = await tool.call(input, context, canUseTool, parentMessage, onProgress);
    // Whoever cancelled was told so: a tool that went on to its end regardless does not change it.
    context.signal.throwIfAborted();
    return { ok: true, result };
  } catch (error) {
    return { ok: false, error: context.signal.aborted ? abortReason(context.signal) : error };
  }
}
