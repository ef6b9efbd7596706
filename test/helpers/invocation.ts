/** An invocation of a tool with an input that is taken as parsed. */
import { Invocation, type ToolInput } from '../../src/tool/invocation.ts';
import type { Tool } from '../../src/tool/tool.ts';

/** Make one; its block has the id `call-1`. */
export function invocationOf(tool: Pick<Tool, 'name'>, input: ToolInput = {}): Invocation {
  return new Invocation({ type: 'tool_use', id: 'call-1', name: tool.name, input: {} }, tool as Tool, input);
}
