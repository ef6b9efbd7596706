/**
 * A callable tool for the package `@google/genai`, which holds all tools of the session.
 *
 * ```ts
 * await ai.models.generateContent({ model, contents, config: { tools: [gauntletTool(client)] } });
 * ```
 */
import type { GeminiCall } from '../calls.ts';
import type { Client, GeminiTool, ToolsOptions } from '../client.ts';
import type { TurnOptions } from '../executor.ts';
import type { GeminiPart } from '../replies.ts';

/** A `CallableTool` of the SDK. */
export interface GauntletCallableTool {
  tool(): Promise<{ functionDeclarations: GeminiTool[] }>;
  callTool(functionCalls: GeminiCall[]): Promise<GeminiPart[]>;
}

/**
 * Make the tool.
 *
 * @param options `signal` cancels running calls: the SDK passes none on.
 */
export function gauntletTool(client: Client, options: ToolsOptions & TurnOptions = {}): GauntletCallableTool {
  return {
    tool: async () => ({ functionDeclarations: await client.tools('gemini', options) }),
    async callTool(function_calls) {
      const { append } = await client.execute({ function_calls }, options);
      return append.flatMap(({ parts }) => parts);
    },
  };
}
