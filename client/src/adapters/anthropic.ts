/**
 * Tools for the tool runner of `@anthropic-ai/sdk`. A stream needs none: hand it to `client.forward`.
 *
 * ```ts
 * import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
 * import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
 * await anthropic.beta.messages.toolRunner({ …, tools: await gauntletTools(client, { betaTool, ToolError }) });
 * ```
 */
import type { Client, ToolsOptions } from '../client.ts';
import { type AnthropicContent, anthropicContent } from '../replies.ts';

/** The functions of the SDK. */
export interface AnthropicSdk<Tool> {
  /** Generics of the SDK cannot be stated here: it is called with the options of a tool. */
  readonly betaTool: (options: never) => Tool;
  readonly ToolError: new (content: string | AnthropicContent[]) => Error;
}

interface RunContext {
  readonly toolUse?: { readonly id: string };
  readonly signal?: AbortSignal | null;
}

/** Make the tools of the session. @throws {GauntletError} */
export async function gauntletTools<Tool>(
  client: Client,
  { betaTool, ToolError }: AnthropicSdk<Tool>,
  options?: ToolsOptions,
): Promise<Tool[]> {
  const listed = await client.tools('anthropic', options);
  return listed.map(({ name, description, input_schema: inputSchema }) => {
    const definition = {
      name,
      description,
      inputSchema,
      run: async (input: unknown, context: RunContext = {}) => {
        const { toolUse, signal } = context;
        const result = await client.run(name, input, { id: toolUse?.id, signal: signal ?? undefined });
        const content = anthropicContent(result.content);
        if (result.isError) throw new ToolError(content);
        return content;
      },
    };
    return betaTool(definition as never);
  });
}
