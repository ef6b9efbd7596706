/**
 * Tools for the package `ai`.
 *
 * ```ts
 * import { generateText, jsonSchema, tool } from 'ai';
 * await generateText({ model, prompt, tools: await gauntletTools(client, { tool, jsonSchema }) });
 * ```
 */
import type { Client, JsonSchema } from '../client.ts';
import type { RunResult } from '../run.ts';
import { type AdapterOptions, ownApprovals } from './own-approvals.ts';
import { type FileBlock, filesOf, markedText } from '../replies.ts';

/** The functions of the SDK. */
export interface AiSdk<Tool> {
  /** Overloads of the SDK cannot be stated here: it is called with a definition of a tool. */
  readonly tool: (definition: never) => Tool;
  readonly jsonSchema: (schema: never) => unknown;
}

/** Output of a tool, for the model. */
export type AiOutput =
  | { type: 'text'; value: string }
  | { type: 'error-text'; value: string }
  | {
      type: 'content';
      value: (
        | { type: 'text'; text: string }
        | { type: 'image-data'; data: string; mediaType: string }
        | { type: 'file-data'; data: string; mediaType: string; filename?: string }
      )[];
    };

/** Make the tools of the session, by name. @throws {GauntletError} */
export async function gauntletTools<Tool>(
  client: Client,
  { tool, jsonSchema }: AiSdk<Tool>,
  options?: AdapterOptions,
): Promise<Record<string, Tool>> {
  const schemaOf = jsonSchema as (schema: JsonSchema) => unknown;
  const asking = ownApprovals(client, options);
  const listed = await client.tools('anthropic', options);
  return Object.fromEntries(
    listed.map(({ name, description, input_schema }) => {
      const definition = {
        description,
        inputSchema: schemaOf(input_schema),
        execute: (input: unknown, { toolCallId, abortSignal }: { toolCallId?: string; abortSignal?: AbortSignal }) =>
          client.run(name, input, { id: toolCallId, signal: abortSignal, approval: asking?.take(toolCallId) }),
        ...(asking && {
          needsApproval: (input: unknown, { toolCallId }: { toolCallId: string }) =>
            asking.isNeeded(name, input, toolCallId),
        }),
        toModelOutput: ({ output }: { output: RunResult }) => modelOutput(output),
      };
      return [name, tool(definition as never)];
    }),
  );
}

/**
 * Move images and documents of results into a message of the user, for models whose results hold text alone, as those
 * behind Chat Completions: pass it to the SDK as `prepareStep`.
 */
export function imagesAsMessages<Message extends { readonly role: string; readonly content: unknown }>({
  messages,
}: {
  readonly messages: readonly Message[];
}): { messages: Message[] } {
  return {
    messages: messages.flatMap((message) => {
      if (message.role !== 'tool') return [message];
      const files: object[] = [];
      const content = (message.content as readonly ToolPart[]).map((part) => {
        if (part.output?.type !== 'content') return part;
        const texts = part.output.value.flatMap((item) => {
          if (item.type === 'text') return [item.text];
          files.push({ type: 'file', data: item.data, mediaType: item.mediaType });
          return ['[The image or document is in the next message of the user]'];
        });
        return { ...part, output: { type: 'text', value: texts.join('\n') } };
      });
      return files.length === 0 ? [message] : [{ ...message, content }, { role: 'user', content: files } as never];
    }),
  };
}

interface ToolPart {
  readonly output?: AiOutput;
}

/** Providers without a mark for errors send the text alone, so it says that it is one. */
function modelOutput({ content, isError }: RunResult): AiOutput {
  const files = filesOf(content);
  const text = markedText(content, isError);
  if (files.length === 0) return { type: isError ? 'error-text' : 'text', value: text };
  return {
    type: 'content',
    value: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...files.map(filePart)],
  };
}

function filePart(file: FileBlock) {
  const { data, media_type: mediaType } = file.source;
  if (file.type === 'image') return { type: 'image-data' as const, data, mediaType };
  return { type: 'file-data' as const, data, mediaType, filename: file.title ?? 'document.pdf' };
}
