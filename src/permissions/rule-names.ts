/** Words of the rule language: the names of tools that have others, and the names that judge paths. */

/**
 * Other names of built-in tools. The tools take their aliases from here, so that a rule can be read before any tool is
 * made, and a rule under an alias cannot be overlooked by a reader that knows the name alone.
 */
export const TOOL_ALIASES = {
  Read: ['FileRead'],
  Edit: ['FileEdit'],
  Write: ['FileWrite'],
  TaskOutput: ['BashOutput', 'AgentOutput'],
  TaskStop: ['KillShell'],
  ReadMcpResourceTool: ['ReadMcpResource'],
  ListMcpResourcesTool: ['ListMcpResources'],
} as const;

/** Rules of these names judge the paths of every tool, by access. */
export const PATH_RULE_NAMES = { read: 'Read', write: 'Edit' } as const;

const NAMES_BY_ALIAS: ReadonlyMap<string, string> = new Map(
  Object.entries(TOOL_ALIASES).flatMap(([name, aliases]) => aliases.map((alias) => [alias, name])),
);
const PATH_NAMES: ReadonlySet<string> = new Set(Object.values(PATH_RULE_NAMES));

/** The name under which rules for a tool are kept, whichever of its names they spell. */
export function canonicalName(name: string): string {
  return NAMES_BY_ALIAS.get(name) ?? name;
}

/** Whether a name belongs to a built-in tool, enabled or not, so that no tool from outside may bear it. */
export function isReservedName(name: string): boolean {
  return NAMES_BY_ALIAS.has(name) || Object.hasOwn(TOOL_ALIASES, name) || PATH_NAMES.has(name);
}

/** Whether rules of this name judge the paths of every tool. */
export function isPathRuleName(name: string): boolean {
  return PATH_NAMES.has(name);
}
