/**
 * The pool: the tools one list shows, and what it does not show and why.
 */
import type { HiddenCause, HiddenTool } from './get-tools.ts';
import type { ListContext, Tool } from '../tool/tool.ts';

/** What a pool holds whoever reads its words. */
export interface PoolMembers {
  /** Built-ins, then tools from MCP and plugins, then the session's own; each part sorted by name in code-unit order. */
  readonly tools: readonly Tool[];
  /** `tools[0..builtInCount)` are built-ins. */
  readonly builtInCount: number;
  /** Tools from MCP and plugins. */
  readonly mcpCount: number;
  /** Tools that the session brought. */
  readonly sessionCount: number;
  /** What is not shown: built-ins, then the others. */
  readonly hidden: readonly HiddenTool[];
  /** A tool of the list, by name or alias. */
  lookup(nameOrAlias: string): Tool | undefined;
  /** Why a tool that exists is not in the list. */
  whyHidden(nameOrAlias: string): HiddenCause | undefined;
  /** The same with the tool and the particulars. */
  hiddenTool(nameOrAlias: string): HiddenTool | undefined;
  /** Whether the list names `tool` without its schema. */
  isDeferred(tool: Tool): boolean;
}

/** The tools one list shows, and the session that their words are for. Frozen. */
export interface ToolPool extends PoolMembers, ListContext {
  /** sha256, hex, of the JSON array of the built-ins as the default list has them. Computed on first use. */
  readonly prefixSha256: string;
}
