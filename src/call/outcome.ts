/**
 * The outcome of a call, before its session logs it.
 *
 * Every step of a call either continues or ends with one of these; nothing else is returned from `src/call/`.
 */
import type { NewMessage, SpilledText, ToolResultBlock } from '../wire/blocks.ts';
import type { JsonObject } from '../base/json.ts';
import type { DecisionSummary } from '../wire/decision.ts';
import type { Display } from '../wire/display.ts';
import { type CallErrorCode, GauntletError, errorMessage } from '../base/errors.ts';
import type { CallStatus } from '../wire/frames.ts';
import type { ContextModifier } from '../tool/session-context.ts';

/** Limit of a result's text for the model, and the handling of the rest. */
export interface ResultBudget {
  /** Maximum of characters; `limits.resultChars` by default, Infinity for a tool that limits itself. */
  readonly limitChars?: number;
  /** False for an MCP tool that raised its own limit. */
  readonly isInTurnSum: boolean;
  /** True to cut what does not fit, with a notice; false to spill it to a file. */
  readonly isCut: boolean;
  /** True for a failed call: a preview also shows the end of the text, which often contains the cause. */
  readonly showsEnd?: boolean;
}

/** Outcome of one call. */
export interface CallOutcome {
  readonly status: CallStatus;
  /** Absent exactly if `status` is `ok`. */
  readonly errorCode?: CallErrorCode;
  readonly content: ToolResultBlock['content'];
  readonly display: Display;
  /** The result rendered in a line or two, if the tool renders results. */
  readonly condensed?: Display;
  /** True if the tool omitted a part of the available data from its result. */
  readonly isTruncated?: boolean;
  readonly budget: ResultBudget;
  /** True once the tool's `call` was entered: its side effects may have happened. */
  readonly didRun: boolean;
  /** Output of the tool, for the tool that made an inner call. */
  readonly data?: unknown;
  readonly newMessages?: readonly NewMessage[];
  /** Texts that hooks added for the model, also contained in `newMessages`. */
  readonly hookContexts?: readonly string[];
  readonly contextModifier?: ContextModifier;
  /** Set if the tool wrote its whole text to a file itself. */
  readonly spilled?: SpilledText;
  readonly mcpResult?: JsonObject;
  /** True if a hook replaced the output, or put words in front of it. */
  readonly isRewritten?: boolean;
  /** Decision of the gate; absent if the call ended before it. */
  readonly decided?: DecisionSummary;
  /** Reason with which the tool or a gate ended the turn. */
  readonly endsTurn?: string;
}

/** Result of a step that ends the call. */
export interface Ended {
  readonly kind: 'end';
  readonly outcome: CallOutcome;
}

/** End a call at this step. */
export function ended(outcome: CallOutcome): Ended {
  return { kind: 'end', outcome };
}

/** Budget of texts that the server writes. */
const PLAIN_BUDGET: ResultBudget = { isInTurnSum: true, isCut: false };

const STATUS_OF: Readonly<Record<CallErrorCode, CallStatus>> = {
  permission_denied: 'denied',
  hook_blocked: 'denied',
  unknown_tool: 'error',
  invalid_input: 'error',
  contained: 'error',
  tool_failed: 'error',
  timeout: 'error',
  output_limit: 'error',
  resource_exhausted: 'error',
  cancelled: 'cancelled',
  sibling_aborted: 'cancelled',
  discarded: 'cancelled',
  interrupted: 'interrupted',
};

/**
 * Build the outcome of a failed call.
 *
 * @param content Text for the model, with what to do next. Empty for a discarded call.
 */
export function failedOutcome(
  errorCode: CallErrorCode,
  content: string,
  more: Partial<Pick<CallOutcome, 'display' | 'budget' | 'didRun' | 'decided' | 'endsTurn' | 'spilled'>> = {},
): CallOutcome {
  return {
    status: STATUS_OF[errorCode],
    errorCode,
    content,
    display: more.display ?? { title: content.split('\n', 1)[0] ?? '', tone: 'danger', blocks: [] },
    budget: more.budget ?? PLAIN_BUDGET,
    didRun: more.didRun ?? false,
    decided: more.decided,
    endsTurn: more.endsTurn,
    spilled: more.spilled,
  };
}

/** Reduce a decision to what a result contains. */
export function summariseDecision({ behavior, reason }: DecisionSummary): DecisionSummary {
  return { behavior, reason };
}

/**
 * Build the outcome of a call that was stopped, or whose gate threw.
 *
 * @param budget Budget of a call that had run; without it the call counts as not started.
 */
export function stoppedOutcome(cause: unknown, budget?: ResultBudget): CallOutcome {
  const code = callErrorCode(cause);
  return failedOutcome(code, code === 'discarded' ? '' : callErrorText(cause), {
    didRun: budget !== undefined,
    budget,
  });
}

/** Error code of a call that threw: the error's own if it is one for calls, else `tool_failed`. */
export function callErrorCode(error: unknown): CallErrorCode {
  return error instanceof GauntletError && error.code in STATUS_OF ? (error.code as CallErrorCode) : 'tool_failed';
}

/** Error with which a signal was aborted; `cancelled` for any other reason. */
export function abortReason(signal: AbortSignal): GauntletError {
  return signal.reason instanceof GauntletError
    ? signal.reason
    : new GauntletError('cancelled', 'Cancelled before it finished');
}

/** Text of a thrown error for the model. */
export function callErrorText(error: unknown): string {
  const message = errorMessage(error).trim();
  return message === '' ? 'The tool failed and gave no reason' : message;
}
