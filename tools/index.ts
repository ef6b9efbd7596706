/** All built-in tools, by domain. A new tool changes its own file, its domain's list, and its tests. */
import { GauntletError } from '../src/base/errors.ts';
import type { Tool } from '../src/tool/tool.ts';
import { agentTools } from './agents/index.ts';
import { codeTools } from './code/index.ts';
import { cronTools } from './cron/index.ts';
import { fileTools } from './files/index.ts';
import { listTools } from './lists/index.ts';
import { mcpTools } from './mcp/index.ts';
import { moreTools } from './more/index.ts';
import { planningTools } from './planning/index.ts';
import { searchTools } from './search/index.ts';
import { serverTools } from './server/index.ts';
import { shellTools } from './shell/index.ts';
import { taskTools } from './tasks/index.ts';
import { webTools } from './web/index.ts';
import { workspaceTools } from './workspace/index.ts';

export { createCodeProcesses } from './code/index.ts';

export { sessionTools } from './more/index.ts';

export { RESOURCE_TOOL } from './mcp/read-mcp-resource.ts';

export { SKILL_TOOL } from './more/skill.ts';

export { loadSkills } from './more/skill-catalogue.ts';

export { outputSchemaProblem } from './more/structured-output.ts';

/** Services of all tools; each domain declares those it needs. */
export type ToolServices = Parameters<typeof agentTools>[0] &
  Parameters<typeof codeTools>[0] &
  Parameters<typeof cronTools>[0] &
  Parameters<typeof fileTools>[0] &
  Parameters<typeof listTools>[0] &
  Parameters<typeof mcpTools>[0] &
  Parameters<typeof moreTools>[0] &
  Parameters<typeof planningTools>[0] &
  Parameters<typeof searchTools>[0] &
  Parameters<typeof serverTools>[0] &
  Parameters<typeof shellTools>[0] &
  Parameters<typeof taskTools>[0] &
  Parameters<typeof webTools>[0] &
  Parameters<typeof workspaceTools>[0];

/** The only tools in mode `simple`. */
export const SIMPLE_TOOLS: readonly string[] = ['Bash', 'Edit', 'Read'];

/** The tool of mode `repl`. */
export const REPL_TOOL = 'REPL';

/** Tools that mode `repl` hides from the list, since the REPL offers them as functions. */
export const HIDDEN_IN_REPL: readonly string[] = [
  ...['Agent', 'Bash', 'Edit', 'Glob', 'Grep', 'NotebookEdit', 'PowerShell', 'Read', 'Write'],
];

/** The tool that runs a prompt. */
export const AGENT_TOOL = 'Agent';

/** The tool that returns the schemas of deferred ones. */
export const SCHEMA_TOOL = 'ToolSearch';

/**
 * Create all built-in tools, enabled or not, in no particular order; the pool filters and sorts them.
 *
 * @throws {GauntletError} `invalid_setting` for a feature flag that no tool has.
 */
export function getAllBaseTools(services: ToolServices & FeatureFlags): readonly Tool[] {
  return withFeatures(services, [
    ...agentTools(services),
    ...codeTools(services),
    ...cronTools(services),
    ...fileTools(services),
    ...listTools(services),
    ...mcpTools(services),
    ...moreTools(services),
    ...planningTools(services),
    ...searchTools(services),
    ...serverTools(services),
    ...shellTools(services),
    ...taskTools(services),
    ...webTools(services),
    ...workspaceTools(services),
  ]);
}

/** The setting `features`. */
interface FeatureFlags {
  /** Enabled or disabled by tool name; a tool that is not listed is enabled. */
  readonly features: Readonly<Record<string, boolean>>;
}

/**
 * Disable the tools whose flag is false.
 *
 * @throws {GauntletError} `invalid_setting` for a flag that no tool has: a misspelt one would leave its tool enabled.
 */
function withFeatures({ features }: FeatureFlags, tools: readonly Tool[]): readonly Tool[] {
  const names = new Set(tools.map(({ name }) => name));
  const unknown = Object.keys(features).find((name) => !names.has(name));
  if (unknown !== undefined) {
    const known = [...names].sort().join(', ');
    throw new GauntletError(
      'invalid_setting',
      `Setting "features": no tool has the flag "${unknown}"; use one of ${known}`,
    );
  }
  return tools.map((tool) => (features[tool.name] === false ? switchedOff(tool) : tool));
}

function switchedOff(tool: Tool): Tool {
  const disabledReason = () => `the setting "features" switches it off: set "${tool.name}" to true there`;
  return Object.freeze({ ...tool, isEnabled: () => false, disabledReason });
}
