/**
 * Which tools of a list are named without their schema.
 *
 * A model that sees a deferred tool asks ToolSearch for the rest. What is decided here depends on
 * the built-ins alone, so that no MCP server that comes or goes moves the prefix.
 */
import type { Tool } from '../tool/tool.ts';

/** Enabled built-ins up to which `toolSearch: "auto"` defers none of them: so many schemas a model still takes in. */
export const MAX_UNDEFERRED_BUILT_INS = 30;

/** The setting `toolSearch` of PROTOCOL section 1. */
export type ToolSearchSetting = 'auto' | 'always' | 'off';

/** What deferral depends on beside the tool. */
export interface DeferralContext {
  readonly toolSearch: ToolSearchSetting;
  /** Enabled built-ins of the server, whatever the mode and the rules of one list leave of them. */
  readonly builtInCount: number;
}

/** Whether `tool` is listed without its schema. `alwaysLoad` beats everything. */
export function isDeferredTool(tool: Tool, context: DeferralContext): boolean {
  if (context.toolSearch === 'off' || tool.alwaysLoad === true) return false;
  if (tool.origin?.type === 'mcp') return true;
  if (tool.shouldDefer !== true) return false;
  return context.toolSearch === 'always' || context.builtInCount > MAX_UNDEFERRED_BUILT_INS;
}
