/** Step 3: runs the tool. Its progress is sent at once. */
import type { AssistantMessage } from '../wire/blocks.ts';
import type { CanUseTool, ToolProgress, ToolResult, ToolUseContext } from '../tool/tool.ts';
import type { Permit } from './gate.ts';
import { abortReason } from './outcome.ts';

/** Services of a run in addition to its context. */
export interface RunServices {
  readonly canUseTool: CanUseTool;
  readonly parentMessage: AssistantMessage;
  onProgress(progress: ToolProgress): void;
}

/** Outcome of a run. */
export type ToolRun =
  | { readonly ok: true; readonly result: ToolResult<unknown> }
  /** Error that the tool threw, or the reason why it was stopped. */
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
    // The cancellation was already reported, so a tool that finished regardless does not change it.
    signal.throwIfAborted();
    return { ok: true, result };
  } catch (error) {
    return { ok: false, error: signal.aborted ? abortReason(signal) : error };
  }
}
