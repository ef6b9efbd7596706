/**
 * Renders a call's intent; a tool that cannot render it is shown by name.
 */
import { isPlainData, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Display } from '../../wire/display.ts';
import type { Tool, ToolProgress } from '../../tool/tool.ts';

/** Render a call from its input, complete or partial. Never throws. */
export function drawIntent(tool: Tool | undefined, name: string, input: JsonValue): Display {
  if (!tool || !isObject(input)) return { title: name, blocks: [] };
  try {
    const drawn = tool.renderToolUseMessage(input);
    const group = drawn.group ?? groupOf(tool, input);
    const display = group ? { ...drawn, group } : drawn;
    return isPlainData(display) ? display : { title: tool.name, blocks: [] };
  } catch {
    // Rendering is for people, so its failure must not stop the call.
    return { title: tool.name, blocks: [] };
  }
}

/** Return the display group of a call: its tool's own, or the common one of search and read tools. */
function groupOf(tool: Tool, input: JsonObject): Display['group'] {
  if (tool.renderGroupedToolUse) return tool.renderGroupedToolUse([input]);
  const { isSearch = false, isRead = false } = tool.isSearchOrReadCommand?.(input) ?? {};
  return isSearch || isRead ? { key: 'look', title: 'Search and read' } : undefined;
}

/** Describe a running call for people: "Reading src/app.ts". Never throws. */
export function describeActivity(tool: Tool | undefined, input: JsonValue): string | undefined {
  try {
    return tool && isObject(input) ? tool.getActivityDescription?.(input) : undefined;
  } catch {
    // As above: only the description is missing.
    return undefined;
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Render one piece of progress, if the tool renders any. Never throws. */
export function drawProgress(tool: Tool, progress: ToolProgress): Display | undefined {
  try {
    return tool.renderToolUseProgressMessage?.([progress]);
  } catch {
    // As above: the progress itself is still sent.
    return undefined;
  }
}
