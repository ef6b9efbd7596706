/**
 * Step 4, the result: maps a run to a `tool_result` and its rendering.
 */
import type { SpilledText, ToolResultBlock } from '../wire/blocks.ts';
import { resultText } from '../wire/result-text.ts';
import { cutText } from '../base/cut-text.ts';
import type { Display } from '../wire/display.ts';
import { errorMessage, isGauntletError } from '../base/errors.ts';
import type { Invocation } from '../tool/invocation.ts';
import type { Tool, ToolProgress, ToolResult } from '../tool/tool.ts';
import { callErrorCode, callErrorText, type CallOutcome, failedOutcome, type ResultBudget } from './outcome.ts';
import { isPlainData } from '../base/json.ts';
import type { ToolRun } from './run.ts';

/** Longest text shown of a result without a rendering, in characters. */
const PLAIN_DISPLAY_CHARS = 2_000;

/** The server's limit of results, which applies in addition to the tool's own. */
export interface ResultLimits {
  readonly resultChars: number;
}

/**
 * Map a run to its outcome.
 *
 * A tool that cannot map or render its own result has failed, as if `call` had thrown.
 */
export function mapResult(
  invocation: Invocation,
  run: ToolRun,
  progress: readonly ToolProgress[],
  limits: ResultLimits,
): CallOutcome {
  const budget = budgetOf(invocation.tool, limits);
  try {
    if (run.ok) return succeeded(invocation, run.result, progress, budget);
    return failed(invocation, run.error, budget);
  } catch (error) {
    return failedOutcome(
      'tool_failed',
      `"${invocation.tool.name}" could not present its result: ${errorMessage(error)}`,
      {
        didRun: true,
      },
    );
  }
}

function succeeded(
  invocation: Invocation,
  result: ToolResult<unknown>,
  progress: readonly ToolProgress[],
  budget: ResultBudget,
): CallOutcome {
  const { tool, input, block } = invocation;
  const mapped = tool.mapToolResultToToolResultBlockParam(result.data, block.id);
  if (!isContent(mapped.content)) throw new TypeError('its content is neither text nor a list of blocks');
  const display = tool.renderToolResultMessage?.(result.data, progress, {}) ?? plainDisplay(tool, input, mapped);
  const condensed = tool.renderToolResultMessage?.(result.data, progress, { style: 'condensed' });
  if (![mapped.content, display, condensed, result.newMessages, result.mcpResult].every((part) => isPlainData(part))) {
    throw new TypeError('it holds what JSON cannot');
  }
  if (mapped.is_error) {
    const text = resultText(mapped.content);
    return {
      ...failedOutcome('tool_failed', text, { didRun: true, budget: { ...budget, showsEnd: true } }),
      content: mapped.content,
      mcpResult: result.mcpResult,
    };
  }
  return {
    status: 'ok',
    content: mapped.content,
    display,
    condensed,
    isTruncated: tool.isResultTruncated?.(result.data) === true,
    budget,
    didRun: true,
    data: result.data,
    newMessages: result.newMessages?.length ? result.newMessages : undefined,
    contextModifier: result.contextModifier,
    spilled: result.spilled,
    mcpResult: result.mcpResult,
    // Present in every outcome: replacing an existing property is much faster than adding one.
    decided: undefined,
  };
}

function failed({ tool, input }: Invocation, error: unknown, budget: ResultBudget): CallOutcome {
  const code = callErrorCode(error);
  const text = code === 'discarded' ? '' : callErrorText(error);
  const drawn = tool.renderToolUseErrorMessage?.(text, input);
  const display = isPlainData(drawn) ? drawn : undefined;
  return failedOutcome(code, text, {
    didRun: true,
    budget: { ...budget, showsEnd: true },
    display,
    spilled: spilledBefore(error),
  });
}

/** Return the file that a failed tool had written its whole output to, if any. */
function spilledBefore(error: unknown): SpilledText | undefined {
  return isGauntletError(error) ? (error.details?.['spilled'] as SpilledText | undefined) : undefined;
}

function isContent(content: unknown): boolean {
  if (typeof content === 'string') return true;
  return Array.isArray(content) && content.every((block: unknown) => typeof block === 'object' && block !== null);
}

function budgetOf(tool: Tool, limits: ResultLimits): ResultBudget {
  const isUnlimited = tool.maxResultSizeChars === Infinity;
  const ceiling = tool.isOutsideTurnBudget ? tool.maxResultSizeChars : limits.resultChars;
  return {
    limitChars: isUnlimited ? Infinity : Math.min(tool.maxResultSizeChars, ceiling),
    isInTurnSum: tool.isOutsideTurnBudget !== true,
    isCut: isUnlimited,
  };
}

/** Default rendering of a result: the tool's name over the first lines of its text. */
export function plainDisplay(tool: Tool, input: Readonly<Record<string, unknown>>, result: ToolResultBlock): Display {
  const text = cutText(resultText(result.content), PLAIN_DISPLAY_CHARS);
  return { title: tool.userFacingName(input), tone: 'success', blocks: text === '' ? [] : [{ kind: 'text', text }] };
}
