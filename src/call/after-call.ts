/**
 * Runs PostToolUse and PostToolUseFailure hooks on a result.
 */
import type { ResultContentBlock, ToolResultBlock } from '../wire/blocks.ts';
import { resultText } from '../wire/result-text.ts';
import type { Tool, ToolUseContext } from '../tool/tool.ts';
import type { HooksVerdict } from '../hooks/merge-answers.ts';
import type { Invocation } from '../tool/invocation.ts';
import { type CallHookServices, contextMessages, hookOccasion } from './call-hooks.ts';
import type { Permit } from './gate.ts';
import { abortReason, type CallOutcome, failedOutcome, stoppedOutcome } from './outcome.ts';
import { isPlainData } from '../base/json.ts';
import { plainDisplay } from './result.ts';
import type { ToolRun } from './run.ts';

/** Pass a result to its hooks and apply their verdict. A call that was stopped meanwhile stays stopped. */
export async function afterCall(
  { invocation, hookContexts: before = [] }: Permit,
  run: ToolRun,
  outcome: CallOutcome,
  context: ToolUseContext,
  services: CallHookServices,
): Promise<CallOutcome> {
  const verdict = await verdictOn(invocation, run, outcome, context, services);
  if (!verdict) return withMessages(outcome, before);
  if (context.signal.aborted) return stoppedOutcome(abortReason(context.signal), outcome.budget);
  const contexts = [...before, ...verdict.additionalContexts];
  const shown = withMessages(judged(invocation, outcome, verdict), contexts);
  // The tool that made an inner call may use only its data, so the objection is also passed to the outer call's model.
  return { ...shown, hookContexts: [...contexts, ...objections(verdict.feedback)] };
}

/** Run the hooks of a result; `undefined` if none is set. */
async function verdictOn(
  invocation: Invocation,
  run: ToolRun,
  outcome: CallOutcome,
  context: ToolUseContext,
  services: CallHookServices,
): Promise<HooksVerdict | undefined> {
  const { hooks } = services;
  const event = outcome.status === 'ok' ? 'PostToolUse' : 'PostToolUseFailure';
  if (!hooks?.has(event) || context.signal.aborted) return undefined;
  const occasion = hookOccasion(event, invocation, context, services.locate, resultFacts(invocation, run, outcome));
  const onSlow = (data: { readonly type: 'hook' }) => services.onProgress?.({ data });
  return hooks.ask(occasion, { signal: context.signal, onSlow });
}

/** Build the event's fields: the tool's output if JSON can hold it, else the text of the result. */
function resultFacts({ tool }: Invocation, run: ToolRun, outcome: CallOutcome): Readonly<Record<string, unknown>> {
  const text = resultText(outcome.content);
  if (outcome.status !== 'ok') return { error: text, error_code: outcome.errorCode, is_interrupt: false };
  const response = run.ok ? hookResponse(tool, run.result.data) : undefined;
  return { tool_response: response !== undefined && isPlainData(response) ? response : text };
}

function hookResponse(tool: Tool, data: unknown): unknown {
  try {
    return tool.toHookResponse ? tool.toHookResponse(data) : data;
  } catch {
    // The tool cannot convert its output for hooks, so they receive the text of the result.
    return undefined;
  }
}

function judged(invocation: Invocation, outcome: CallOutcome, verdict: HooksVerdict): CallOutcome {
  const { withheld, feedback, stopReason } = verdict;
  const endsTurn = stopReason ?? outcome.endsTurn;
  if (withheld !== undefined) {
    return failedOutcome('hook_blocked', withheld, { didRun: true, budget: outcome.budget, endsTurn });
  }
  const output = replacement(invocation, verdict);
  const isReplaced = output !== undefined && outcome.status === 'ok';
  const shown = isReplaced ? { ...withContent(invocation, outcome, contentOf(output)), data: output } : outcome;
  const ending = stopReason === undefined ? [] : [`A hook ended this turn: ${stopReason}`];
  const words = [...objections(feedback), ...ending];
  const isRewritten = isReplaced || words.length > 0;
  return { ...shown, content: inFront(shown.content, words), endsTurn, ...(isRewritten && { isRewritten }) };
}

/** Return the replaced output, if any; `null` is a valid output. */
function replacement({ tool }: Invocation, { updatedToolOutput, updatedMcpOutput }: HooksVerdict): unknown {
  if (updatedToolOutput !== undefined) return updatedToolOutput;
  return tool.origin?.type === 'mcp' ? updatedMcpOutput : undefined;
}

/** Replace the content, and everything derived from the old one: rendering and spilled file. */
function withContent(
  { tool, input, block }: Invocation,
  outcome: CallOutcome,
  content: ToolResultBlock['content'],
): CallOutcome {
  const display = plainDisplay(tool, input, { type: 'tool_result', tool_use_id: block.id, content });
  return {
    ...outcome,
    content,
    display,
    condensed: undefined,
    isTruncated: false,
    spilled: undefined,
    mcpResult: undefined,
  };
}

/** Use text and lists of blocks as they are; serialise any other JSON. */
function contentOf(output: unknown): ToolResultBlock['content'] {
  if (typeof output === 'string') return output;
  if (Array.isArray(output) && output.length > 0 && output.every(isResultBlock)) return output;
  return JSON.stringify(output);
}

function objections(feedback: readonly string[]): readonly string[] {
  return feedback.length === 0 ? [] : [`A hook objects to this call, which has run: ${feedback.join('\n')}`];
}

/** Prepend text, so that the preview of a long result does not cut it off. */
function inFront(content: ToolResultBlock['content'], words: readonly string[]): ToolResultBlock['content'] {
  if (words.length === 0) return content;
  const text = words.join('\n');
  return typeof content === 'string' ? `${text}\n\n${content}` : [{ type: 'text', text }, ...content];
}

function withMessages(outcome: CallOutcome, contexts: readonly string[]): CallOutcome {
  const added = contextMessages(contexts);
  if (!added) return outcome;
  return { ...outcome, newMessages: [...(outcome.newMessages ?? []), ...added], hookContexts: contexts };
}

/** True for blocks that a model API accepts; others are serialised as JSON. */
function isResultBlock(block: unknown): block is ResultContentBlock {
  if (typeof block !== 'object' || block === null || !('type' in block)) return false;
  if (block.type === 'text') return 'text' in block && typeof block.text === 'string';
  return block.type === 'image' && 'source' in block && isImageSource(block.source);
}

function isImageSource(source: unknown): boolean {
  const { type, media_type, data } = (source ?? {}) as Record<string, unknown>;
  return type === 'base64' && typeof media_type === 'string' && typeof data === 'string';
}
