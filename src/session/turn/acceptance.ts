/**
 * Logs the acceptance of blocks: once it is on disk the calls are final, and if the disk rejects it they are removed.
 */
import { type CallTrace, traceCall, type TraceOrigin } from '../../base/tracing.ts';
import type { ToolPool } from '../../pool/tool-pool.ts';
import type { AssistantMessage, ToolUseBlock } from '../../wire/blocks.ts';
import type { Tool } from '../../tool/tool.ts';
import type { ToolUseFrame } from '../../wire/frames.ts';
import type { StreamingToolExecutor } from '../../schedule/streaming-tool-executor.ts';
import type { SessionCore } from '../session-core.ts';
import { describeActivity, drawIntent } from './drawn.ts';
import type { Call } from './turn.ts';
import { endTurnIfDone } from './yield-results.ts';

/** A block with all that its call is prepared from. */
export interface AcceptedBlock {
  readonly block: ToolUseBlock;
  /** The message that contains it. */
  readonly message: AssistantMessage;
  /** The tools that the session saw when the block was accepted. */
  readonly pool: ToolPool;
}

/** Calls of one session accepted and not yet yielded: a client that sends more has not read its results. */
export const MAX_SESSION_CALLS = 4_096;

/** The frame that says that a block was accepted. @param isTurnOpen More blocks of its turn may come. */
export function toolUseFrame(
  tool: Tool | undefined,
  call: Call,
  block: ToolUseBlock,
  isTurnOpen = false,
): ToolUseFrame {
  return {
    type: 'tool_use',
    turn_id: call.turn.id,
    index: call.index,
    parent_tool_use_id: call.parentId,
    tool_use: block,
    provider_id: call.providerId,
    open: isTurnOpen ? true : undefined,
    display: drawIntent(tool, block.name, block.input),
    activity: describeActivity(tool, block.input),
  };
}

/** Begin the spans of a block's call. @returns undefined where nothing is traced. */
export function traceBlock(
  { id: sessionId }: SessionCore,
  origin: TraceOrigin | undefined,
  { block, tool, turnId }: { readonly block: ToolUseBlock; readonly tool: Tool | undefined; readonly turnId: string },
): CallTrace | undefined {
  const { id: toolUseId, name, input } = block;
  const toolOrigin = tool && (tool.origin?.type ?? 'built_in');
  return traceCall(origin, { ...{ toolUseId, sessionId, turnId, input }, toolName: tool?.name ?? name, toolOrigin });
}

/**
 * Write acceptances to the log; if that fails, none of the calls counts as made.
 *
 * @param executor Executor of these calls.
 * @returns Once they are on disk. @throws {GauntletError} `log_unavailable`, `fenced`
 */
export function landAcceptance(
  core: SessionCore,
  executor: StreamingToolExecutor,
  calls: readonly Call[],
  frames: readonly ToolUseFrame[],
): Promise<void> {
  const landing = new Promise<void>((resolve, reject) => {
    core.log.send({
      frames,
      landed: (first) => {
        calls.forEach((call, place) => call.accepted(first + place));
        resolve();
      },
      refused: (error) => {
        executor.forget(calls.flatMap(({ scheduled }) => scheduled ?? []));
        for (const { trace } of calls) trace?.ended({ status: 'error', errorCode: 'log_unavailable' });
        for (const turn of core.ledger.forget(calls)) endTurnIfDone(core, turn);
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    });
  });
  for (const call of calls) call.accept(landing);
  return landing;
}
