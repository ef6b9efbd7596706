/**
 * Tools for Mastra.
 *
 * ```ts
 * import { createTool } from '@mastra/core/tools';
 * const agent = new Agent({ name, instructions, model, tools: await gauntletTools(client, { createTool }) });
 * ```
 */
import type { Client, JsonSchema, ToolsOptions } from '../client.ts';
import { filesOf, markedText } from '../replies.ts';

/** The function of the SDK. */
export interface MastraSdk<Tool> {
  /** Generics of the SDK cannot be stated here: it is called with the definition of a tool. */
  readonly createTool: (definition: never) => Tool;
}

/** Make the tools of the session, by name. What the SDK takes from a tool is text: images are named and left out. */
export async function gauntletTools<Tool>(
  client: Client,
  { createTool }: MastraSdk<Tool>,
  options?: ToolsOptions,
): Promise<Record<string, Tool>> {
  const listed = await client.tools('anthropic', options);
  return Object.fromEntries(
    listed.map(({ name, description, input_schema }) => {
      const definition = {
        id: name,
        description,
        inputSchema: schemaOf(input_schema),
        async execute(
          { context }: { context: unknown },
          call: { toolCallId?: string; abortSignal?: AbortSignal } = {},
        ) {
          const { content, isError } = await client.run(name, context, {
            id: call.toolCallId,
            signal: call.abortSignal,
          });
          const notes = filesOf(content).map(({ type }) => `[The ${type} cannot be shown here]`);
          return [markedText(content, isError), ...notes].filter(Boolean).join('\n');
        },
      };
      return [name, createTool(definition as never)];
    }),
  );
}

/** A schema of the package `ai`, which Mastra takes too. Made into one of Zod, its optional fields became required. */
function schemaOf(jsonSchema: JsonSchema): object {
  const validate = (value: unknown) => ({ success: true, value });
  return { [Symbol.for('vercel.ai.schema')]: true, _type: undefined, jsonSchema, validate };
}
