/**
 * Tools for LangChain and LangGraph.
 *
 * ```ts
 * import { ToolMessage } from '@langchain/core/messages';
 * import { tool } from '@langchain/core/tools';
 * const agent = createReactAgent({ llm, tools: await gauntletTools(client, { tool, ToolMessage }) });
 * ```
 */
import type { Client, ToolsOptions } from '../client.ts';
import { dataUrl, filesOf, markedText } from '../replies.ts';
import type { RunResult } from '../run.ts';

/** The functions of the SDK. */
export interface LanggraphSdk<Tool> {
  /** Overloads of the SDK cannot be stated here: it is called with a function and the fields of a tool. */
  readonly tool: (run: never, fields: never) => Tool;
  readonly ToolMessage: new (fields: {
    content: never;
    name: string;
    tool_call_id: string;
    status: 'success' | 'error';
  }) => object;
}

interface RunConfig {
  readonly toolCall?: { readonly id?: string };
  readonly signal?: AbortSignal;
}

/** Make the tools of the session. @throws {GauntletError} */
export async function gauntletTools<Tool>(
  client: Client,
  { tool, ToolMessage }: LanggraphSdk<Tool>,
  options?: ToolsOptions,
): Promise<Tool[]> {
  const listed = await client.tools('anthropic', options);
  return listed.map(({ name, description, input_schema: schema }) => {
    const run = async (input: unknown, { toolCall, signal }: RunConfig = {}) => {
      const result = await client.run(name, input, { id: toolCall?.id, signal });
      const content = messageContent(result) as never;
      if (toolCall?.id === undefined) return content;
      const status = result.isError ? 'error' : 'success';
      return new ToolMessage({ content, name, tool_call_id: toolCall.id, status });
    };
    return tool(run as never, { name, description, schema } as never);
  });
}

/** A message, as far as its images matter. */
interface MessageLike {
  readonly content: unknown;
  readonly name?: string;
  readonly tool_call_id?: string;
}

/**
 * Move images of results into a message of the user, for models whose results hold text alone, as those behind Chat
 * Completions: pass it to `createReactAgent` as `preModelHook`.
 */
export function imagesAsMessages<Message extends object>({
  messages,
}: {
  readonly messages: readonly Message[];
}): {
  llmInputMessages: Message[];
} {
  const moved: object[] = [];
  let files: object[] = [];
  const flush = () => {
    // Behind the last result of a turn: nothing may stand between them.
    if (files.length > 0) moved.push({ role: 'user', content: files });
    files = [];
  };
  for (const message of messages) {
    const { content, tool_call_id, name } = message as MessageLike;
    if (tool_call_id === undefined) flush();
    if (tool_call_id === undefined || !Array.isArray(content)) {
      moved.push(message);
      continue;
    }
    const parts = content as readonly { readonly type: string; readonly text?: string }[];
    const texts = parts.map(({ type, text }) => (type === 'text' ? text : '[The image is in the next message]'));
    files.push(...parts.filter(({ type }) => type !== 'text'));
    moved.push({ role: 'tool', tool_call_id, name, content: texts.join('\n') });
  }
  flush();
  return { llmInputMessages: moved as Message[] };
}

function messageContent({ content, isError }: RunResult): string | object[] {
  const text = markedText(content, isError);
  const files = filesOf(content);
  if (files.length === 0) return text;
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...files.map((file) => {
      if (file.type === 'image') return { type: 'image_url', image_url: { url: dataUrl(file) } };
      return { type: 'file', file: { filename: file.title ?? 'document.pdf', file_data: dataUrl(file) } };
    }),
  ];
}
