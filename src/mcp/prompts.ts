/**
 * Requests a server's prompts, each checked separately, and the messages of one.
 */
import type { Client, ContentBlock } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import { GauntletError } from '../base/errors.ts';
import type { ResultContentBlock } from '../wire/blocks.ts';
import { toOutput } from './call-result.ts';
import { describeRefusals } from './list-tools.ts';
import { pagedEntries } from './paged-list.ts';
import { mcpToolName } from './tool-name.ts';
import { visibleLine, visibleText } from './visible-text.ts';

/** Prompts taken from one server: nobody chooses among more. */
const MAX_PROMPTS = 200;

/** Arguments of one prompt. */
const MAX_ARGUMENTS = 50;

/** Longest name of a prompt or an argument, as sent. */
const NAME_CHARS = 200;

const TITLE_CHARS = 200;
const DESCRIPTION_CHARS = 1_024;

/** Messages taken from one prompt. */
const MAX_MESSAGES = 200;

/** Text taken from one prompt, in characters. */
const MAX_CONTENT_CHARS = 500_000;

const line = (maxChars: number) =>
  z
    .string()
    .transform((text) => visibleLine(text, maxChars))
    .optional()
    .catch(undefined);

const sentName = z.string().min(1).max(NAME_CHARS);

const SentArgument = z.object({
  // A model reads the name in a list and has to repeat it.
  name: sentName.refine((name) => visibleLine(name, NAME_CHARS) === name, 'holds characters that are not shown'),
  description: line(DESCRIPTION_CHARS),
  required: z.boolean().catch(false),
});

const SentPrompt = z.object({
  name: sentName,
  title: line(TITLE_CHARS),
  description: line(DESCRIPTION_CHARS),
  arguments: z.array(SentArgument).max(MAX_ARGUMENTS).optional(),
});

const SentMessages = z.looseObject({
  messages: z.array(
    z
      .object({ role: z.enum(['user', 'assistant']).catch('user'), content: z.unknown() })
      .catch({ role: 'user', content: undefined }),
  ),
});

/** A block of a message, as far as it must be checked: the type decides what else is read. */
const SentContent = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal('resource_link'), uri: z.string(), name: z.string() }),
  z.looseObject({
    type: z.literal('resource'),
    resource: z.union([
      z.looseObject({ uri: z.string(), text: z.string() }),
      z.looseObject({ uri: z.string(), blob: z.string() }),
    ]),
  }),
]);

/** An argument of a prompt. */
export interface McpPromptArgument {
  readonly name: string;
  readonly description?: string | undefined;
  readonly required: boolean;
}

/** A prompt as its server lists it, with hidden characters of its texts made visible. */
export interface McpPrompt {
  /** Name of the server, as configured. */
  readonly server: string;
  /** Name of the prompt, as the server sent it. */
  readonly sentName: string;
  /** Name for models: `mcp__server__prompt`. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments: readonly McpPromptArgument[];
}

/** Result of listing a server's prompts. */
export interface PromptListing {
  /** Unique, and sorted by name in code-unit order. */
  readonly prompts: readonly McpPrompt[];
  /** Sentences on what was left out and why, for people. */
  readonly remarks: readonly string[];
}

/** List the prompts of a connected server; empty if it has none. @throws The SDK's error. */
export async function listPrompts(
  client: Client,
  server: string,
  limits: Pick<Limits, 'mcpConnectMs'>,
  signal: AbortSignal,
): Promise<PromptListing> {
  if (client.getServerCapabilities()?.prompts === undefined) return { prompts: [], remarks: [] };
  const prompts = new Map<string, McpPrompt>();
  const refusals: string[] = [];
  const remarks: string[] = [];
  const list = {
    ...{ method: 'prompts/list', member: 'prompts', maxEntries: MAX_PROMPTS, pageMs: limits.mcpConnectMs, signal },
    onCut: (remark: string) => void remarks.push(remark),
  };
  for await (const sent of pagedEntries(client, list)) {
    const parsed = SentPrompt.safeParse(sent);
    if (!parsed.success) {
      refusals.push(`"${nameOf(sent)}" (${z.prettifyError(parsed.error)})`);
      continue;
    }
    const { name: sentName, arguments: sentArguments = [], ...about } = parsed.data;
    const name = mcpToolName(server, sentName);
    if (prompts.has(name)) refusals.push(`"${sentName}" (sent twice)`);
    else prompts.set(name, { server, sentName, name, ...about, arguments: sentArguments });
  }
  const sorted = [...prompts.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  return { prompts: sorted, remarks: [...remarks, ...describeRefusals(refusals)] };
}

/**
 * Get the messages of a prompt as blocks for a model. A message that cannot be read becomes a note.
 *
 * @throws {GauntletError} `tool_failed` if it has no messages.
 */
export async function getPrompt(
  client: Client,
  { sentName: name }: Pick<McpPrompt, 'sentName'>,
  args: Readonly<Record<string, string>>,
  limits: Pick<Limits, 'mcpCallIdleMs' | 'resultChars'>,
  signal: AbortSignal,
): Promise<readonly ResultContentBlock[]> {
  const params = { name, ...(Object.keys(args).length > 0 && { arguments: { ...args } }) };
  const options = { signal, timeout: limits.mcpCallIdleMs };
  const { messages } = await client.request({ method: 'prompts/get', params }, SentMessages, options);
  if (messages.length === 0)
    throw new GauntletError('tool_failed', `The prompt "${visibleLine(name, NAME_CHARS)}" is empty`);
  const hasRoles = messages.some(({ role }) => role === 'assistant');
  const blocks = messages.slice(0, MAX_MESSAGES).flatMap(({ role, content }) => {
    const { content: converted } = toOutput({ content: [checkedBlock(content)] }, limits);
    return hasRoles ? [{ type: 'text', text: `[${role}]` } as const, ...converted] : converted;
  });
  return boundedTexts(messages.length > MAX_MESSAGES ? [...blocks, leftOut(messages.length - MAX_MESSAGES)] : blocks);
}

function checkedBlock(content: unknown): ContentBlock {
  const parsed = SentContent.safeParse(content);
  return parsed.success ? (parsed.data as ContentBlock) : { type: 'text', text: '[A message that cannot be read]' };
}

/** Make hidden characters visible, and cut what is too long for one prompt. */
function boundedTexts(blocks: readonly ResultContentBlock[]): readonly ResultContentBlock[] {
  let roomChars = MAX_CONTENT_CHARS;
  return blocks.flatMap((block): readonly ResultContentBlock[] => {
    if (block.type !== 'text') return [block];
    if (roomChars <= 0) return [];
    const text = visibleText(block.text, roomChars);
    roomChars -= text.length;
    return [{ ...block, text }];
  });
}

function leftOut(count: number): ResultContentBlock {
  return { type: 'text', text: `[${count} more messages were left out]` };
}

function nameOf(sent: unknown): string {
  const { name } = (sent ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' ? name : 'an entry without a name';
}
