/**
 * From all tools to one pool, in the order that keeps a prompt cache warm.
 *
 * Built-ins sorted by code unit, then MCP and plugin tools sorted likewise, then what the session brought. A name stands
 * once and a built-in wins, hidden or not, so that nothing from outside can take the place of what was denied; what a
 * session brought is the server's own making, and takes the place of the built-in that only stands for it.
 */
import { createHash } from 'node:crypto';
import type { ListContext, Tool } from '../tool/tool.ts';
import { type DeferralContext, isDeferredTool } from './deferral.ts';
import { describeEntry } from './describe.ts';
import { getTools, type PoolContext, type ToolFilter } from './get-tools.ts';
import type { PoolMembers, ToolPool } from './tool-pool.ts';

/** What every pool of a server is made with. */
export type PoolConfiguration = ToolFilter & Pick<DeferralContext, 'toolSearch'>;

/**
 * Make the pool of a context.
 *
 * @param baseTools All built-ins, any order.
 * @param externalTools From MCP and plugins. One that bears a built-in's name or alias is dropped.
 */
export function assembleToolPool(
  context: PoolContext,
  baseTools: readonly Tool[],
  externalTools: readonly Tool[],
  configuration: PoolConfiguration,
): ToolPool {
  return worded(assembleMembers(context, baseTools, externalTools, configuration), context);
}

/** What `assembleToolPool` makes, but for the words. */
export function assembleMembers(
  context: PoolContext,
  baseTools: readonly Tool[],
  externalTools: readonly Tool[],
  configuration: PoolConfiguration,
): PoolMembers {
  const brought = context.own?.brought ?? [];
  const base = baseTools.filter(({ name }) => !brought.some((tool) => tool.name === name));
  const builtIns = getTools(base.toSorted(byName), context, configuration);
  const own = getTools(brought.toSorted(byName), context, configuration);
  const external = getTools(admitted(externalTools, baseTools), context, configuration);
  const hidden = [...builtIns.hidden, ...external.hidden, ...own.hidden];
  const tools = Object.freeze([...builtIns.visible, ...external.visible, ...own.visible]);
  const builtInCount = builtIns.visible.length;
  // Of the server and not of the list: a deny rule more must not bring schemas back and the prompt cache down.
  const deferral = { ...configuration, builtInCount: baseTools.filter((tool) => tool.isEnabled({})).length };
  const deferred = new Set(tools.filter((tool) => isDeferredTool(tool, deferral)).map(({ name }) => name));
  const visibleByName = index(tools, (tool) => tool);
  const hiddenByName = index(hidden, (entry) => entry.tool);

  return {
    tools,
    builtInCount,
    mcpCount: external.visible.length,
    sessionCount: own.visible.length,
    hidden,
    lookup: (name) => visibleByName.get(name),
    whyHidden: (name) => hiddenByName.get(name)?.cause,
    hiddenTool: (name) => hiddenByName.get(name),
    isDeferred: ({ name }) => deferred.has(name),
  };
}

/** A pool whose prompts are worded for a session, or for nobody's. */
export function worded(members: PoolMembers, { principal, cwd, permissions }: ListContext): ToolPool {
  let prefixSha256: string | undefined;
  const pool: ToolPool = Object.freeze({
    ...members,
    principal,
    cwd,
    permissions,
    get prefixSha256() {
      return (prefixSha256 ??= builtInPrefixSha256(pool));
    },
  });
  return pool;
}

function byName(left: Tool, right: Tool): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}

/** External tools, sorted, the first of each name, without those that bear a built-in's name or alias. */
function admitted(externalTools: readonly Tool[], baseTools: readonly Tool[]): readonly Tool[] {
  const taken = new Set(baseTools.flatMap(namesOf));
  const unique = new Map<string, Tool>();
  for (const tool of externalTools) {
    if (!unique.has(tool.name) && !namesOf(tool).some((name) => taken.has(name))) unique.set(tool.name, tool);
  }
  return [...unique.values()].sort(byName);
}

function namesOf(tool: Tool): readonly string[] {
  return [tool.name, ...(tool.aliases ?? [])];
}

/** Names first, then aliases where no name stands; the earlier entry wins. */
function index<Entry>(entries: readonly Entry[], toolOf: (entry: Entry) => Tool): ReadonlyMap<string, Entry> {
  const found = new Map(entries.map((entry) => [toolOf(entry).name, entry]));
  for (const entry of entries) {
    for (const alias of toolOf(entry).aliases ?? []) if (!found.has(alias)) found.set(alias, entry);
  }
  return found;
}

/**
 * sha256, hex, of the UTF-8 bytes of the JSON array of `tools[0..built_in_count)` of the default list.
 *
 * A client that holds that reply computes it as `sha256(JSON.stringify(tools.slice(0, built_in_count)))`.
 */
function builtInPrefixSha256(pool: ToolPool): string {
  const builtIns = pool.tools.slice(0, pool.builtInCount);
  const entries = builtIns.map((tool) => describeEntry(tool, pool, 'anthropic', 'by deferral'));
  return createHash('sha256').update(JSON.stringify(entries)).digest('hex');
}
