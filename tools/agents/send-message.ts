/** SendMessage: sends a message to another agent of the session, or to all. */
import * as z from 'zod';
import { needsModel } from '../../src/agents/model.ts';
import { EVERYBODY, MAIN_AGENT, mailText, type ReceivedMail } from '../../src/agents/teams.ts';
import { GauntletError } from '../../src/base/errors.ts';
import { showText, showValue } from '../../src/base/hidden-characters.ts';
import { shownHead } from '../../src/files/shown-head.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { ToolResult, ToolUseContext } from '../../src/tool/tool.ts';
import type { ToolResultBlock } from '../../src/wire/blocks.ts';
import type { Display } from '../../src/wire/display.ts';
import { callerGroup, handedMail, type OwnServices, withHandedMail } from './own-services.ts';

const PROMPT = `Writes to another agent, which reads it between its calls.

- \`to\` is the name that an agent was started with, "${MAIN_AGENT}" for the agent that the person talks to, or "${EVERYBODY}" for all others
- In a team a message also waits for a member that does not work now, until one of that name is started
- The answer names who gets it, and brings messages that came for "${MAIN_AGENT}" when "${MAIN_AGENT}" writes
- Write what the other must know or do in whole sentences: it sees nothing of your conversation. Do not use it for your report, which your caller gets anyway`;

const MAX_SUMMARY_CHARS = 200;
const MAX_MESSAGE_CHARS = 20_000;

const SendMessageInput = z.strictObject({
  to: z.string().min(1).max(64).describe(`Name of an agent, "${MAIN_AGENT}", or "${EVERYBODY}" for all others`),
  message: z.string().min(1).max(MAX_MESSAGE_CHARS).describe('What the other shall read'),
  summary: z.string().max(MAX_SUMMARY_CHARS).optional().describe('The message in five to ten words, for people'),
});

type SendMessageArguments = z.output<typeof SendMessageInput>;

/** Receivers of the message, and mail for the sender. */
interface SendMessageOutput {
  readonly receivers: readonly string[];
  /** Receivers that do not run now. */
  readonly waiting: readonly string[];
  readonly mail: readonly ReceivedMail[];
}

/** Make SendMessage. */
export function sendMessageTool(services: OwnServices) {
  return buildTool({
    name: 'SendMessage',
    searchHint: 'write to another agent or the whole team',
    shouldDefer: true,
    ...needsModel(services),
    touchesOnlySession: () => true,
    inputSchema: SendMessageInput,
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: ({ to }) => `Send a message to ${showText(to)}`,
    call: (input, context) => send(services, input, context),
    mapToolResultToToolResultBlockParam: sendMessageResult,
    getToolUseSummary: ({ to }) => to ?? '',
    getActivityDescription: ({ to }) => `Writing to ${to ?? 'an agent'}`,
    renderToolUseMessage: (input): Display => ({
      title: `Message to ${showValue(input.to, '…')}`,
      ...(typeof input.summary === 'string' && { subtitle: showText(input.summary) }),
      blocks:
        typeof input.message === 'string'
          ? [{ kind: 'text', text: shownHead(input.message, services.limits.previewChars) }]
          : [],
    }),
    renderToolResultMessage: ({ receivers }: SendMessageOutput): Display => ({
      title: `Sent to ${receivers.join(', ')}`,
      tone: 'success',
      blocks: [],
    }),
    renderToolUseErrorMessage: (message): Display => ({
      title: 'Message not sent',
      tone: 'danger',
      blocks: [{ kind: 'text', text: message }],
    }),
  });
}

async function send(
  services: OwnServices,
  { to, message, summary }: SendMessageArguments,
  context: ToolUseContext,
): Promise<ToolResult<SendMessageOutput>> {
  const { teams } = services;
  const group = callerGroup(services, context);
  const from = group.name;
  if (from === undefined) {
    const fix = 'Answer with it in your report, or have your caller start you with a name';
    throw new GauntletError(
      'tool_failed',
      `Cannot send a message: you have no name that others could answer to. ${fix}`,
    );
  }
  const receivers = await teams.send(group, to, { from, text: message, ...(summary !== undefined && { summary }) });
  const working = [MAIN_AGENT, ...teams.working(group)];
  const waiting = receivers.filter((name) => !working.includes(name));
  const mail = from === MAIN_AGENT ? await teams.takeMain(group, handedMail(context.session)) : [];
  const last = mail.at(-1);
  return {
    data: { receivers, waiting, mail },
    ...(last && { contextModifier: (session) => withHandedMail(session, last.version) }),
  };
}

function sendMessageResult({ receivers, waiting, mail }: SendMessageOutput, toolUseId: string): ToolResultBlock {
  const later = waiting.length === 0 ? '' : ` Not at work now, so it waits in the mailbox: ${waiting.join(', ')}.`;
  const came = mail.length === 0 ? '' : `\n\nMessages for you:\n${mailText(mail)}`;
  return { type: 'tool_result', tool_use_id: toolUseId, content: `Sent to ${receivers.join(', ')}.${later}${came}` };
}
