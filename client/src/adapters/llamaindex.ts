/**
 * Tools for LlamaIndex.
 *
 * ```ts
 * import { tool } from 'llamaindex';
 * import { agent } from '@llamaindex/workflow';
 * await agent({ llm, tools: await gauntletTools(client, { tool }) }).run('…');
 * ```
 */
import type { Client, ToolsOptions } from '../client.ts';
import { filesOf, markedText } from '../replies.ts';

/** The function of the SDK. */
export interface LlamaindexSdk<Tool> {
  /** Overloads of the SDK cannot be stated here: it is called with a function and the metadata of a tool. */
  readonly tool: (run: never, metadata: never) => Tool;
}

/**
 * Make the tools of the session. What the SDK takes from a tool is text: images are named and left out.
 *
 * @param options `signal` cancels running calls: the SDK passes none on.
 * @throws {GauntletError}
 */
export async function gauntletTools<Tool>(
  client: Client,
  { tool }: LlamaindexSdk<Tool>,
  options: ToolsOptions = {},
): Promise<Tool[]> {
  const listed = await client.tools('anthropic', options);
  return listed.map(({ name, description, input_schema: parameters }) => {
    const run = async (input: unknown) => {
      const { content, isError } = await client.run(name, input, { signal: options.signal });
      const notes = filesOf(content).map(({ type }) => `[The ${type} cannot be shown here]`);
      return [markedText(content, isError), ...notes].filter(Boolean).join('\n');
    };
    return tool(run as never, { name, description, parameters } as never);
  });
}
