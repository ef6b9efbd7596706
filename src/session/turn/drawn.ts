/**
 * A call's intent as something to draw; a tool that cannot draw is shown by its name.
 */
import { isPlainData } from '../../call/plain-data.ts';
import type { JsonValue } from '../../contract/blocks.ts';
import type { Display } from '../../contract/display.ts';
import type { Tool, ToolProgress } from '../../contract/tool.ts';

/** Draw a call from its input, whole or partial. Never throws. */
export function drawIntent(tool: Tool | undefined, name: string, input: JsonValue): Display {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  if (!tool || !isObject) return { title: name, blocks: [] };
  try {
    const display = tool.renderToolUseMessage(input as Readonly<Record<string, unknown>>);
    return isPlainData(display) ? display : { title: tool.name, blocks: [] };
  } catch {
    // Drawing is for people; a picture that fails must not stop the call it is of.
    return { title: tool.name, blocks: [] };
  }
}

/** Draw one piece of progress, for a tool that draws any. Never throws. */
export function drawProgress(tool: Tool, progress: ToolProgress): Display | undefined {
  try {
    return tool.renderToolUseProgressMessage?.([progress]);
  } catch {
    // As above: the progress itself goes out all the same.
    return undefined;
  }
}
