/** SendUserMessage: sends a message with optional files to the connected clients. */
import * as z from 'zod';
import { showText } from '../../src/base/hidden-characters.ts';
import { judgedPath } from '../../src/files/judged-path.ts';
import { withCheckedFile } from '../../src/files/open-checked.ts';
import { TOOL_ALIASES } from '../../src/permissions/rule-names.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { PathUse } from '../../src/tool/located-path.ts';
import type { ToolUseContext } from '../../src/tool/tool.ts';
import type { Display, DisplayBlock } from '../../src/wire/display.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import type { PlanningToolServices } from './services.ts';

const PROMPT = `Sends a message to the person who watches the session, at once and without waiting for an answer.

Use it in long work for what the person should know before it is done: a result on the way, something unexpected, a decision you took for them. To ask something use AskUserQuestion; what belongs to your answer, write there. Attachments are files that the person may want to look at: name them, do not repeat what stands in them.`;

const MAX_MESSAGE_CHARS = 20_000;
const MAX_ATTACHMENTS = 20;

const SendUserMessageInput = z.strictObject({
  message: z.string().min(1).max(MAX_MESSAGE_CHARS).describe('The message, in Markdown'),
  attachments: z
    .array(z.string().min(1))
    .max(MAX_ATTACHMENTS)
    .optional()
    .describe('Paths of files, absolute or relative to the working directory'),
});

/** A parsed input. */
export type SendUserMessageArguments = z.output<typeof SendUserMessageInput>;

/** Make SendUserMessage. */
export function sendUserMessageTool(services: PlanningToolServices) {
  return buildTool({
    name: 'SendUserMessage',
    aliases: TOOL_ALIASES.SendUserMessage,
    searchHint: 'send a message to the person watching',
    shouldDefer: true,
    isReadOnly: () => true,
    touchesOnlySession: ({ attachments = [] }) => attachments.length === 0,
    inputSchema: SendUserMessageInput,
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: ({ message }) => `Send a message: ${message}`,
    paths: usesOf,
    call: async (input, context) => {
      const data = await send(services, input, context);
      context.notify('info', 'user_message', input.message);
      return { data };
    },
    mapToolResultToToolResultBlockParam: ({ attachments }: SendUserMessageOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: attachments.length === 0 ? 'Sent' : `Sent with ${attachments.map(({ path }) => path).join(', ')}`,
    }),
    getToolUseSummary: (input) => input.message ?? '',
    getActivityDescription: () => 'Sending a message',
    renderToolUseMessage: ({ message, attachments }): Display => ({
      title: 'Message',
      blocks: [...textBlocks(message), ...fileBlocks(attachments)],
    }),
    renderToolResultMessage: ({ message, attachments }: SendUserMessageOutput): Display => ({
      title: 'Message',
      tone: 'info',
      blocks: [
        ...textBlocks(message),
        ...fileBlocks(attachments.map(({ path, sizeBytes }) => `${path} (${sizeBytes} bytes)`)),
      ],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Message not sent', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not send the message', message),
  });
}

/** Output of SendUserMessage. */
export interface SendUserMessageOutput {
  readonly message: string;
  readonly attachments: readonly { readonly path: string; readonly sizeBytes: number }[];
}

function usesOf({ attachments = [] }: SendUserMessageArguments): readonly PathUse[] {
  return attachments.map((path) => ({ path, access: 'read' }));
}

/** Check all files first, so that nothing is sent if one is missing. */
async function send(
  { locate }: PlanningToolServices,
  input: SendUserMessageArguments,
  context: ToolUseContext,
): Promise<SendUserMessageOutput> {
  const attachments = [];
  for (const [index, use] of usesOf(input).entries()) {
    const located = await judgedPath(locate, context, use, index);
    const sizeBytes = await withCheckedFile(located.real, use.path, ({ stats }) => Promise.resolve(stats.size));
    attachments.push({ path: located.spelled, sizeBytes });
  }
  return { message: input.message, attachments };
}

function textBlocks(message: unknown): readonly DisplayBlock[] {
  return typeof message === 'string' && message !== '' ? [{ kind: 'text', text: message }] : [];
}

function fileBlocks(attachments: unknown): readonly DisplayBlock[] {
  const files = Array.isArray(attachments) ? attachments.filter((path) => typeof path === 'string').map(showText) : [];
  return files.length > 0 ? [{ kind: 'list', items: files }] : [];
}
