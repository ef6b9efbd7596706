/** The pool: the tools that one list shows, and the hidden ones with reasons. */
import type { HiddenCause, HiddenTool } from './get-tools.ts';
import type { ListContext, Tool } from '../tool/tool.ts';

/** Parts of a pool that do not depend on the session. */
export interface PoolMembers {
  /** Built-ins, then tools from MCP and plugins, then the session's own; each part sorted by name in code-unit order. */
  readonly tools: readonly Tool[];
  /** `tools[0..builtInCount)` are built-ins. */
  readonly builtInCount: number;
  /** Number of tools from MCP and plugins. */
  readonly mcpCount: number;
  /** Number of tools of the session. */
  readonly sessionCount: number;
  /** Hidden tools: built-ins first. */
  readonly hidden: readonly HiddenTool[];
  /** Return a listed tool by name or alias. */
  lookup(nameOrAlias: string): Tool | undefined;
  /** `tools`, and built-ins that mode `repl` hides: all that an inner call can use. */
  readonly innerTools: readonly Tool[];
  /** Return a tool for an inner call, by name or alias. */
  lookupInner(nameOrAlias: string): Tool | undefined;
  /** Return the reason why an existing tool is not listed. */
  whyHidden(nameOrAlias: string): HiddenCause | undefined;
  /** Return a hidden tool with its reason. */
  hiddenTool(nameOrAlias: string): HiddenTool | undefined;
  /** Report whether the list shows `tool` without its schema. */
  isDeferred(tool: Tool): boolean;
}

/** Tools of one list, and the session that their prompts are rendered for. Frozen. */
export interface ToolPool extends PoolMembers, ListContext {
  /** SHA-256, in hex, of the JSON array of the built-ins in the default list. Computed on first use. */
  readonly prefixSha256: string;
}
