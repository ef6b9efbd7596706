/**
 * What a call came to, before its session numbers and logs it.
 *
 * Every step of a call either hands on or ends with one of these; nothing else leaves `src/call/`.
 */
import type { NewMessage, SpilledText, ToolResultBlock } from '../wire/blocks.ts';
import type { DecisionSummary } from '../wire/decision.ts';
import type { Display } from '../wire/display.ts';
import { type CallErrorCode, GauntletError, errorMessage } from '../base/errors.ts';
import type { CallStatus } from '../wire/frames.ts';
import type { ContextModifier } from '../tool/session-context.ts';

/** How much of a result's text the model may see, and what becomes of the rest. */
export interface ResultBudget {
  /** Most characters, `limits.resultChars` where it does not say; Infinity for a tool that limits itself. */
  readonly limitChars?: number;
  /** False for an MCP tool that raised its own limit. */
  readonly isInTurnSum: boolean;
  /** True: what does not fit is cut off with a notice; false: it is spilled to a file. */
  readonly isCut: boolean;
  /** The call failed: a preview shows its end beside its beginning, since the cause often stands there. */
  readonly showsEnd?: boolean;
}

/** The end of one call. */
export interface CallOutcome {
  readonly status: CallStatus;
  /** Absent exactly when `status` is `ok`. */
  readonly errorCode?: CallErrorCode;
  readonly content: ToolResultBlock['content'];
  readonly display: Display;
  /** The same in a line or two, of a tool that draws its results. */
  readonly condensed?: Display;
  /** The tool left a part of what there is out of its result. */
  readonly isTruncated?: boolean;
  readonly budget: ResultBudget;
  /** True once the tool's `call` was entered: its side effects may have happened. */
  readonly didRun: boolean;
  /** What the tool handed back, for the tool that made an inner call. */
  readonly data?: unknown;
  readonly newMessages?: readonly NewMessage[];
  /** What hooks added for the model; `newMessages` holds it too. */
  readonly hookContexts?: readonly string[];
  readonly contextModifier?: ContextModifier;
  /** The tool wrote its whole text to a file itself. */
  readonly spilled?: SpilledText;
  /** How the gate decided; absent where it did not come to that. */
  readonly decided?: DecisionSummary;
  /** The tool or a gate ended the turn, with this reason. */
  readonly endsTurn?: string;
}

/** A step that hands nothing on: the call ends here. */
export interface Ended {
  readonly kind: 'end';
  readonly outcome: CallOutcome;
}

/** End a call at this step. */
export function ended(outcome: CallOutcome): Ended {
  return { kind: 'end', outcome };
}

/** Budget of texts the server words itself. */
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
 * A call that did not end well.
 *
 * @param content For the model; says what to do next. Empty for a discarded call.
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

/** What stays of a decision in a result. */
export function summariseDecision({ behavior, reason }: DecisionSummary): DecisionSummary {
  return { behavior, reason };
}

/**
 * A call that was stopped, or whose gate threw.
 *
 * @param budget Of a call that had run; without it the call counts as not begun.
 */
export function stoppedOutcome(cause: unknown, budget?: ResultBudget): CallOutcome {
  const code = callErrorCode(cause);
  return failedOutcome(code, code === 'discarded' ? '' : callErrorText(cause), {
    didRun: budget !== undefined,
    budget,
  });
}

/** The code a thrown error ends its call with: its own if it is a call's, else `tool_failed`. */
export function callErrorCode(error: unknown): CallErrorCode {
  return error instanceof GauntletError && error.code in STATUS_OF ? (error.code as CallErrorCode) : 'tool_failed';
}

/** The error a signal was aborted with; a plain abort counts as `cancelled`. */
export function abortReason(signal: AbortSignal): GauntletError {
  return signal.reason instanceof GauntletError
    ? signal.reason
    : new GauntletError('cancelled', 'Cancelled before it finished');
}

/** The text a thrown error leaves for the model. */
export function callErrorText(error: unknown): string {
  const message = errorMessage(error).trim();
  return message === '' ? 'The tool failed and gave no reason' : message;
}
