/**
 * A call's intent as something to draw; a tool that cannot draw is shown by its name.
 */
import { isPlainData, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Display } from '../../wire/display.ts';
import type { Tool, ToolProgress } from '../../tool/tool.ts';

/** Draw a call from its input, whole or partial. Never throws. */
export function drawIntent(tool: Tool | undefined, name: string, input: JsonValue): Display {
  if (!tool || !isObject(input)) return { title: name, blocks: [] };
  try {
    const drawn = tool.renderToolUseMessage(input);
    const group = drawn.group ?? groupOf(tool, input);
    const display = group ? { ...drawn, group } : drawn;
    return isPlainData(display) ? display : { title: tool.name, blocks: [] };
  } catch {
    // Drawing is for people; a picture that fails must not stop the call it is of.
    return { title: tool.name, blocks: [] };
  }
}

/** The group that a call is drawn in, beside others of its kind: its tool's own, or that of all that search and read. */
function groupOf(tool: Tool, input: JsonObject): Display['group'] {
  if (tool.renderGroupedToolUse) return tool.renderGroupedToolUse([input]);
  const { isSearch = false, isRead = false } = tool.isSearchOrReadCommand?.(input) ?? {};
  return isSearch || isRead ? { key: 'look', title: 'Search and read' } : undefined;
}

/** Say what a running call does, for people: "Reading src/app.ts". Never throws. */
export function describeActivity(tool: Tool | undefined, input: JsonValue): string | undefined {
  try {
    return tool && isObject(input) ? tool.getActivityDescription?.(input) : undefined;
  } catch {
    // As above: only words are missing.
    return undefined;
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
