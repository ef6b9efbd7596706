/**
 * Sends questions of gates and of running calls to the clients that may answer, or denies at once if there are none.
 */
import type { GateAnswer, GateQuestion } from '../../call/gate.ts';
import type { JsonValue } from '../../base/json.ts';
import { cutText } from '../../base/cut-text.ts';
import { showText } from '../../base/hidden-characters.ts';
import { promptOptions } from '../../pool/describe.ts';
import { unansweredMessage } from '../../permissions/denial.ts';
import { answersYes, type Invocation } from '../../tool/invocation.ts';
import type { MidCallQuestion, QuestionEnd } from '../../tool/mid-call-question.ts';
import type { Call } from '../turn/turn.ts';
import { drawIntent } from '../turn/drawn.ts';
import { handedInBy, logHandedIn } from './handed-in.ts';
import type { SessionCore } from '../session-core.ts';

/** Longest description of a call, in characters. */
const DESCRIPTION_CHARS = 300;

/**
 * Ask about a call, unless an approval was handed in with it.
 *
 * `on_ask` of the request, then of the session, decides whether to wait; without either a question waits while a client
 * that may answer is connected.
 */
export async function askWhoMayAnswer(
  core: SessionCore,
  call: Call,
  question: GateQuestion,
  signal: AbortSignal,
): Promise<GateAnswer> {
  const { invocation, decision, observable } = question;
  const { tool } = invocation;
  const handedBy = handedInBy(core, call, question);
  if (handedBy !== undefined && decision.approvals === undefined) {
    await logHandedIn(core, call, handedBy);
    return { behavior: 'allow' };
  }
  const cause = causeOfSilence(core, call);
  if (cause !== undefined && !core.questions.hasOpenQuestion(call.toolUseId)) {
    return { behavior: 'deny', message: unansweredMessage(decision, cause) };
  }
  const input = observable as JsonValue;
  return core.questions.ask(
    {
      request: {
        tool_use_id: call.toolUseId,
        parent_tool_use_id: call.parentId,
        tool_name: tool.name,
        input,
        title: decision.message,
        description: describeCall(invocation, core),
        display: question.preview?.display ?? drawIntent(tool, tool.name, input),
        reason: decision.reason,
        destructive: answersYes(() => invocation.isDestructive),
        warnings: decision.warnings,
        suggestions: decision.suggestions,
        ...(decision.approvals === undefined
          ? {}
          : { approvals: { needed: decision.approvals, by: handedBy === undefined ? [] : [handedBy] } }),
      },
      timeoutMs: patienceMs(core, call),
      rejudge: () => question.rejudge(core.context),
    },
    signal,
  );
}

/**
 * Ask a question of a call that runs.
 *
 * It waits for an answer where a question of the gate would, too.
 */
export async function askMidCall(
  core: SessionCore,
  call: Call,
  { toolName, question }: { readonly toolName: string; readonly question: MidCallQuestion },
  signal: AbortSignal,
): Promise<QuestionEnd> {
  const cause = causeOfSilence(core, call);
  if (cause !== undefined) return { behavior: 'deny', message: `Nobody could be asked: ${cause}` };
  const { title, description, display, input, warnings = [], check } = question;
  return core.questions.ask(
    {
      request: {
        tool_use_id: call.toolUseId,
        parent_tool_use_id: call.parentId,
        tool_name: toolName,
        input: input as JsonValue,
        title,
        description: cutText(description, DESCRIPTION_CHARS),
        display,
        reason: { type: 'tool' },
        destructive: false,
        warnings: [...warnings],
        suggestions: [],
      },
      timeoutMs: patienceMs(core, call),
      ...(check && { check: ({ updatedInput }) => check(updatedInput) }),
    },
    signal,
  );
}

/** Return the reason why nobody would be asked; undefined if somebody would. */
function causeOfSilence(core: SessionCore, call: Call): string | undefined {
  const asked = call.askPolicy.onAsk ?? core.opened.on_ask;
  if ((asked ?? (core.isWatched ? 'wait' : 'deny')) === 'wait') return undefined;
  return asked === 'deny' ? 'questions are denied ("on_ask" is "deny")' : 'no client that may answer is connected';
}

function patienceMs(core: SessionCore, call: Call): number {
  return call.askPolicy.askTimeoutMs ?? core.services.limits.askTimeoutMs;
}

function describeCall({ tool, input }: Invocation, { pool }: SessionCore): string {
  try {
    const text = tool.description(input, promptOptions(pool));
    return typeof text === 'string' ? cutText(showText(text.replace(/\s+/g, ' ')), DESCRIPTION_CHARS) : tool.name;
  } catch {
    // The tool cannot describe its call, so its name is used.
    return tool.name;
  }
}
