/**
 * Sends a gate's question to the clients that may answer, or denies at once if there are none.
 */
import type { GateAnswer, GateQuestion } from '../../call/gate.ts';
import type { JsonValue } from '../../base/json.ts';
import { cutText } from '../../base/cut-text.ts';
import { showText } from '../../base/hidden-characters.ts';
import { promptOptions } from '../../pool/describe.ts';
import { unansweredMessage } from '../../permissions/denial.ts';
import { answersYes, type Invocation } from '../../tool/invocation.ts';
import type { Call } from '../turn/turn.ts';
import { drawIntent } from '../turn/drawn.ts';
import type { SessionCore } from '../session-core.ts';

/** Longest description of a call, in characters. */
const DESCRIPTION_CHARS = 300;

/**
 * Ask about a call.
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
  const asked = call.askPolicy.onAsk ?? core.opened.on_ask;
  const onAsk = asked ?? (core.isWatched ? 'wait' : 'deny');
  if (onAsk === 'deny' && !core.questions.hasOpenQuestion(call.toolUseId)) {
    const cause =
      asked === 'deny' ? 'questions are denied ("on_ask" is "deny")' : 'no client that may answer is connected';
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
        ...(decision.approvals === undefined ? {} : { approvals: { needed: decision.approvals, by: [] } }),
      },
      timeoutMs: call.askPolicy.askTimeoutMs ?? core.services.limits.askTimeoutMs,
      rejudge: () => question.rejudge(core.context),
    },
    signal,
  );
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
