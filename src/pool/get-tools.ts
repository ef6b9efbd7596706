/**
 * Filters the tools that a list may show: by mode, the session's selection, bare deny rules, and `isEnabled`.
 *
 * The first cause that hides a tool is reported. Hidden tools cannot be called.
 */
import type { ToolMode } from '../wire/permission-context.ts';
import type { ListContext, Tool } from '../tool/tool.ts';
import { ruleKeys } from '../permissions/rule.ts';
import { hidingRule } from '../permissions/rule-index.ts';

/** Reason why a tool is not in a list. */
export type HiddenCause = 'mode' | 'session' | 'deny rule' | 'not enabled';

/** A tool that is not in the list. */
export interface HiddenTool {
  readonly tool: Tool;
  readonly cause: HiddenCause;
  /** Cause and details, as in `not enabled: no search engine is configured`. */
  readonly reason: string;
  /** The reason as a sentence for the model. */
  readonly message: string;
}

/** Tool selection of a session, set when it is created. */
export interface OwnTools {
  /** Names, aliases and `mcp__server`: all other tools are hidden. Absent for all tools. */
  readonly allowed?: readonly string[];
  /** Tools of this session only. They follow all others, in every mode; only deny rules hide them. */
  readonly brought: readonly Tool[];
}

/** Context of a list: of a session, or, without permissions, of no session. */
export interface PoolContext extends ListContext {
  readonly toolMode: ToolMode;
  /** The same object for all pools of a session. */
  readonly own?: OwnTools;
}

/** Tool names for the filter, which are configured because this folder contains none. */
export interface ToolFilter {
  /** The only tools in mode `simple`. */
  readonly simpleTools: readonly string[];
  /** Tools that mode `repl` hides: there only inner calls reach them. */
  readonly hiddenInRepl: readonly string[];
  /** The tool that makes those inner calls: never deferred in mode `repl`. */
  readonly replTool?: string;
}

/** Divide `tools` into visible and hidden ones, keeping their order. */
export function getTools(
  tools: readonly Tool[],
  context: PoolContext,
  filter: ToolFilter,
): { readonly visible: readonly Tool[]; readonly hidden: readonly HiddenTool[] } {
  const visible: Tool[] = [];
  const hidden: HiddenTool[] = [];
  for (const tool of tools) {
    const found = hidingCause(tool, context, filter);
    if (found === undefined) visible.push(tool);
    else hidden.push(hiddenTool(tool, ...found));
  }
  return { visible, hidden };
}

function hiddenTool(tool: Tool, cause: HiddenCause, particulars: string): HiddenTool {
  const reason = `${cause}: ${particulars}`;
  return { tool, cause, reason, message: `Tool "${tool.name}" is not available (${reason})` };
}

function hidingCause(tool: Tool, context: PoolContext, filter: ToolFilter): readonly [HiddenCause, string] | undefined {
  if (!context.own?.brought.includes(tool)) {
    if (!isInMode(tool, context.toolMode, filter))
      return ['mode', `tool mode "${context.toolMode}" leaves it out: "tool_mode": "normal" has it`];
    if (!isAllowed(tool, context.own?.allowed))
      return ['session', 'it was begun for other tools alone: name this one in "tools" when you begin another'];
  }
  const denied = context.permissions && hidingRule(context.permissions, tool);
  if (denied !== undefined) return ['deny rule', `"${denied.rule}"`];
  if (tool.isEnabled(context)) return undefined;
  return ['not enabled', tool.disabledReason?.(context) ?? 'it is switched off on this server'];
}

function isAllowed(tool: Tool, allowed: readonly string[] | undefined): boolean {
  return allowed === undefined || ruleKeys(tool).some((name) => allowed.includes(name));
}

function isInMode(tool: Tool, mode: ToolMode, filter: ToolFilter): boolean {
  if (mode === 'simple') return tool.origin === undefined && filter.simpleTools.includes(tool.name);
  if (mode === 'repl') return tool.origin !== undefined || !filter.hiddenInRepl.includes(tool.name);
  return true;
}
