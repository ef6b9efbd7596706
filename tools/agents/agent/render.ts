/** Displays calls of Agent. */
import { shownHead } from '../../../src/files/shown-head.ts';
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import type { ToolProgress } from '../../../src/tool/tool.ts';
import type { Display } from '../../../src/wire/display.ts';
import { type AgentOutput, reportText } from './run.ts';
import type { AgentArguments } from './schema.ts';

/** Progress of a call: frames of the agent's session, and what the agent says. */
export type AgentProgress =
  | { readonly type: 'agent'; readonly session_id: string; readonly frame: AgentFrame }
  | { readonly type: 'agent_text'; readonly session_id: string; readonly text: string };

/** Display blocks of one frame. */
interface AgentFrame {
  readonly type: string;
  readonly display?: Display;
  readonly condensed?: Display;
  readonly call?: { readonly name: string; readonly status: string };
}

/** Display the request; the input may still be streaming in. */
export function renderAgent(input: Partial<AgentArguments>, drawnChars: number): Display {
  const { description, subagent_type, prompt, run_in_background } = input;
  const where = run_in_background === true ? ' in the background' : '';
  return {
    title: `Agent: ${showValue(description, '…')}`,
    subtitle: `${showValue(subagent_type, 'general-purpose')}${where}`,
    blocks: typeof prompt === 'string' ? [{ kind: 'text', text: shownHead(prompt, drawnChars) }] : [],
  };
}

/** Display the current activity of the agent. */
export function renderAgentProgress(progress: readonly ToolProgress<AgentProgress>[]): Display {
  const data = progress.at(-1)?.data;
  if (data?.type === 'agent_text') return { title: 'Agent', blocks: [{ kind: 'text', text: data.text }] };
  const frame = data?.frame;
  if (frame?.type === 'tool_use' && frame.display) return frame.display;
  if (frame?.type === 'result' && (frame.condensed ?? frame.display)) return frame.condensed ?? frame.display ?? IDLE;
  if (frame?.type === 'permission_request' && frame.display) return { ...frame.display, tone: 'warning' };
  return IDLE;
}

const IDLE: Display = { title: 'Agent at work', blocks: [] };

/** Display the result. */
export function renderAgentResult(output: AgentOutput, style: 'condensed' | undefined, drawnChars: number): Display {
  if (output.kind === 'started') return { title: `Agent started as task ${output.taskId}`, tone: 'info', blocks: [] };
  const { ending, calls, tokens, ms } = output;
  const text = shownHead(reportText(output), drawnChars);
  return {
    title: ending === 'done' ? 'Agent: done' : 'Agent: incomplete',
    subtitle: `${calls} calls, ${tokens} tokens, ${Math.round(ms / 1_000)} s`,
    tone: ending === 'done' ? 'success' : 'warning',
    blocks: style === 'condensed' ? [] : [{ kind: 'text', text }],
  };
}

/** A call that was not allowed, or that failed. */
export function renderAgentFailure(title: string, message: string): Display {
  return { title, tone: 'danger', blocks: [{ kind: 'text', text: showText(message) }] };
}
