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
  /** A tool that ignores its signal is given up after this long. */
  readonly abandonMs: number;
}

/** How a run ended. */
export type ToolRun =
  | { readonly ok: true; readonly result: ToolResult<unknown> }
  /** What the tool threw, or why it was stopped. */
  | { readonly ok: false; readonly error: unknown };

/** Run a permitted call to its end; never rejects. */
export async function runTool(call: PermittedCall, context: ToolUseContext, services: RunServices): Promise<ToolRun> {
  const { tool, input } = call;
  const stop = giveUp(context.signal, services.abandonMs);
  try {
    const running = tool.call(input, context, services.canUseTool, services.parentMessage, services.onProgress);
    const result = await Promise.race([running, stop.abandoned]);
    // Whoever cancelled was told so: a tool that went on to its end regardless does not change it.
    context.signal.throwIfAborted();
    return { ok: true, result };
  } catch (error) {
    return { ok: false, error: context.signal.aborted ? abortReason(context.signal) : error };
  } finally {
    stop.release();
  }
}

/** Rejects some time after the signal, for tools that do not listen to it. */
function giveUp(signal: AbortSignal, graceMs: number): { abandoned: Promise<never>; release(): void } {
  let timer: NodeJS.Timeout | undefined;
  let arm: () => void = () => undefined;
  const abandoned = new Promise<never>((_, reject) => {
    arm = () => {
      timer = setTimeout(() => reject(abortReason(signal)), graceMs);
    };
  });
  if (signal.aborted) arm();
  else signal.addEventListener('abort', arm, { once: true });
  return {
    abandoned,
    release: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', arm);
    },
  };
}
