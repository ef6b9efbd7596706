/** Names in rules: aliases of tools, and the rule names that apply to paths. */

/**
 * Aliases of built-in tools. The tools take their aliases from here, so that a rule can be parsed before any tool is
 * created, and a rule under an alias cannot be missed by code that compares canonical names.
 */
export const TOOL_ALIASES = {
  Read: ['FileRead'],
  Edit: ['FileEdit'],
  Write: ['FileWrite'],
  TaskOutput: ['BashOutput', 'AgentOutput'],
  TaskStop: ['KillShell'],
  Agent: ['Task'],
  CronCreate: ['ScheduleCron'],
  ExitPlanMode: ['ExitPlanModeV2'],
  SendUserMessage: ['Brief'],
  ReadMcpResourceTool: ['ReadMcpResource'],
  ListMcpResourcesTool: ['ListMcpResources'],
} as const;

/** Rule names that apply to the paths of every tool, by access. */
export const PATH_RULE_NAMES = { read: 'Read', write: 'Edit' } as const;

const NAMES_BY_ALIAS: ReadonlyMap<string, string> = new Map(
  Object.entries(TOOL_ALIASES).flatMap(([name, aliases]) => aliases.map((alias) => [alias, name])),
);
const PATH_NAMES: ReadonlySet<string> = new Set(Object.values(PATH_RULE_NAMES));

/** Return the canonical tool name for a name or alias in a rule. */
export function canonicalName(name: string): string {
  return NAMES_BY_ALIAS.get(name) ?? name;
}

/** Report whether a name belongs to a built-in tool, enabled or not, so that external tools cannot use it. */
export function isReservedName(name: string): boolean {
  return NAMES_BY_ALIAS.has(name) || Object.hasOwn(TOOL_ALIASES, name) || PATH_NAMES.has(name);
}

/** Report whether rules of this name apply to the paths of every tool. */
export function isPathRuleName(name: string): boolean {
  return PATH_NAMES.has(name);
}
