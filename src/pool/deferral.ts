/**
 * Decides which tools of a list are shown without their schema.
 *
 * A model that sees a deferred tool gets the schema from ToolSearch. For built-ins the decision depends on built-ins
 * only, so that MCP servers that connect or disconnect do not change the prefix of the list.
 */
import type { Tool } from '../tool/tool.ts';

/** Enabled built-ins up to which `toolSearch: "auto"` defers none of them: so many schemas a model still takes in. */
export const MAX_UNDEFERRED_BUILT_INS = 30;

/** The setting `toolSearch` of PROTOCOL section 1. */
export type ToolSearchSetting = 'auto' | 'always' | 'off';

/** Inputs of the decision besides the tool. */
export interface DeferralContext {
  readonly toolSearch: ToolSearchSetting;
  /** Number of the server's enabled built-ins, regardless of the mode and rules of one list. */
  readonly builtInCount: number;
}

/** Report whether `tool` is listed without its schema. `alwaysLoad` takes precedence. */
export function isDeferredTool(tool: Tool, context: DeferralContext): boolean {
  if (context.toolSearch === 'off' || tool.alwaysLoad === true) return false;
  if (tool.origin?.type === 'mcp') return true;
  if (tool.shouldDefer !== true) return false;
  return context.toolSearch === 'always' || context.builtInCount > MAX_UNDEFERRED_BUILT_INS;
}
