/** Step 3: the tool runs. Its progress goes out at once. */
import type { AssistantMessage } from '../wire/blocks.ts';
import type { CanUseTool, ToolProgress, ToolResult, ToolUseContext } from '../tool/tool.ts';
import type { Permit } from './gate.ts';
import { abortReason } from './outcome.ts';

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
export async function runTool(
  { invocation, internalFields }: Permit,
  context: ToolUseContext,
  { canUseTool, parentMessage, onProgress }: RunServices,
): Promise<ToolRun> {
  const { tool, input } = invocation;
  const { signal } = context;
  try {
    const args = internalFields ? { ...input, ...internalFields } : input;
    const result = await tool.call(args, context, canUseTool, parentMessage, onProgress);
    // Whoever cancelled was told so: a tool that went on to its end regardless does not change it.
    signal.throwIfAborted();
    return { ok: true, result };
  } catch (error) {
    return { ok: false, error: signal.aborted ? abortReason(signal) : error };
  }
}
