/**
 * Tools for `chat.completions.runTools` of `openai`. A loop of one's own needs none: hand its messages to
 * `client.execute`, or its streams to `client.forward`.
 *
 * ```ts
 * const runner = openai.chat.completions.runTools({ model, messages, tools: await gauntletTools(client) });
 * ```
 */
import type { Client, ToolsOptions } from '../client.ts';
import { parseArguments } from '../calls.ts';
import { filesOf, markedText } from '../replies.ts';

/** A `RunnableToolFunction` of the SDK. */
export interface RunnableTool {
  type: 'function';
  function: {
    name: string;
    description: string;
    /** JSON Schema. */
    parameters: object;
    parse: (text: string) => object;
    function: (input: object, runner: { controller?: AbortController }) => Promise<string>;
  };
}

/** Make the tools of the session. What the SDK takes from a tool is text: images are named and left out. */
export async function gauntletTools(client: Client, options?: ToolsOptions): Promise<RunnableTool[]> {
  const listed = await client.tools('openai-chat', options);
  return listed.map(({ function: { name, description, parameters } }) => ({
    type: 'function',
    function: {
      ...{ name, description, parameters },
      // The server refuses text that is not JSON, in words for the model.
      parse: (text) => parseArguments(text) as object,
      async function(input, { controller }) {
        const { content, isError } = await client.run(name, input, { signal: controller?.signal });
        const notes = filesOf(content).map(({ type }) => `[The ${type} cannot be shown here]`);
        const text = markedText(content, isError);
        return [text, ...notes].filter(Boolean).join('\n');
      },
    },
  }));
}
