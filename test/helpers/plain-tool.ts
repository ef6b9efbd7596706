/** A tool for tests: says its input back, unless `changes` says otherwise. */
import { z } from 'zod';
import { buildTool, type ToolDefinition } from '../../src/tool/build-tool.ts';
import type { AnyObject, Tool, ToolProgressData } from '../../src/tool/tool.ts';

const Input = z.strictObject({ text: z.string().optional().describe('What is said back') });

/** Make a tool called `name`. */
export function plainTool(
  name: string,
  changes: Partial<ToolDefinition<AnyObject, unknown, ToolProgressData>> = {},
): Tool {
  const definition: ToolDefinition<AnyObject, unknown, ToolProgressData> = {
    name,
    inputSchema: Input,
    maxResultSizeChars: 1_000,
    prompt: () => `Says back what ${name} is told. And no more.`,
    description: () => name,
    call: (input) => Promise.resolve({ data: input }),
    mapToolResultToToolResultBlockParam: (output, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: JSON.stringify(output),
    }),
    ...changes,
  };
  return buildTool(definition) as Tool;
}

/** A tool as an MCP server brings it. */
export function mcpTool(server: string, name: string, changes: Parameters<typeof plainTool>[1] = {}): Tool {
  return plainTool(`mcp__${server}__${name}`, { origin: { type: 'mcp', name: server }, ...changes });
}
