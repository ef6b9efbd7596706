/**
 * From all tools to those a list may show: mode, then bare deny rules, then `isEnabled`.
 *
 * The first cause that hides a tool is the one that is reported. What is hidden cannot be called.
 */
import type { ToolPermissionContext } from '../contract/permission-context.ts';
import type { ToolMode } from '../contract/session-context.ts';
import type { Tool } from '../contract/tool.ts';
import { hidingRule } from '../permissions/rule-index.ts';

/** Why a tool is not in a list. */
export type HiddenCause = 'mode' | 'deny rule' | 'not enabled';

/** A tool that is not in the list. */
export interface HiddenTool {
  readonly tool: Tool;
  readonly cause: HiddenCause;
  /** Cause and particulars, as in `not enabled: no search engine is configured`. */
  readonly reason: string;
  /** The same as a sentence for the model. */
  readonly message: string;
}

/** Whose list it is: a session's, or, without permissions, nobody's. */
export interface PoolContext {
  readonly toolMode: ToolMode;
  readonly permissions?: ToolPermissionContext;
}

/** What the filter is told from outside, since this room holds no tool's name. */
export interface ToolFilter {
  /** The only tools of mode `simple`. */
  readonly simpleTools: readonly string[];
  /** The primitives that mode `repl` hides. */
  readonly hiddenInRepl: readonly string[];
}

/** Part `tools` into what `context` shows and what it hides, each in the order it came. */
export function getTools(
  tools: readonly Tool[],
  context: PoolContext,
  filter: ToolFilter,
): { readonly visible: readonly Tool[]; readonly hidden: readonly HiddenTool[] } {
  const visible: Tool[] = [];
  const hidden: HiddenTool[] = [];
  for (const tool of tools) {
    const found = hiding(tool, context, filter);
    if (found === undefined) visible.push(tool);
    else hidden.push(hiddenTool(tool, ...found));
  }
  return { visible, hidden };
}

function hiddenTool(tool: Tool, cause: HiddenCause, particulars: string): HiddenTool {
  const reason = `${cause}: ${particulars}`;
  return { tool, cause, reason, message: `Tool "${tool.name}" is not available (${reason})` };
}

function hiding(tool: Tool, context: PoolContext, filter: ToolFilter): readonly [HiddenCause, string] | undefined {
  if (!isInMode(tool, context.toolMode, filter)) return ['mode', `tool mode "${context.toolMode}" leaves it out`];
  const denied = context.permissions && hidingRule(context.permissions, tool);
  if (denied !== undefined) return ['deny rule', `"${denied.rule}"`];
  if (tool.isEnabled()) return undefined;
  return ['not enabled', tool.disabledReason?.() ?? 'it is switched off on this server'];
}

function isInMode(tool: Tool, mode: ToolMode, filter: ToolFilter): boolean {
  if (mode === 'simple') return tool.origin === undefined && filter.simpleTools.includes(tool.name);
  if (mode === 'repl') return tool.origin !== undefined || !filter.hiddenInRepl.includes(tool.name);
  return true;
}
