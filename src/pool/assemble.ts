/**
 * Assembles the tools of a server into one pool, in an order that keeps prompt caches valid.
 *
 * Built-ins sorted by code unit, then MCP and plugin tools sorted likewise, then tools of the session. Names are
 * unique, and a built-in takes precedence, hidden or not, so that no external tool replaces a denied one. A tool of the
 * session comes from the server itself and replaces the built-in placeholder of the same name.
 */
import { createHash } from 'node:crypto';
import type { ListContext, Tool } from '../tool/tool.ts';
import { type DeferralContext, isDeferredTool } from './deferral.ts';
import { describeEntry } from './describe.ts';
import { getTools, type PoolContext, type ToolFilter } from './get-tools.ts';
import type { PoolMembers, ToolPool } from './tool-pool.ts';

/** Configuration shared by all pools of a server. */
export type PoolConfiguration = ToolFilter & Pick<DeferralContext, 'toolSearch'>;

/**
 * Assemble the pool of a context.
 *
 * @param baseTools All built-ins, in any order.
 * @param externalTools From MCP and plugins. Those with the name or alias of a built-in are dropped.
 */
export function assembleToolPool(
  context: PoolContext,
  baseTools: readonly Tool[],
  externalTools: readonly Tool[],
  configuration: PoolConfiguration,
): ToolPool {
  return poolForContext(assembleMembers(context, baseTools, externalTools, configuration), context);
}

/** Assemble the part of a pool that does not depend on the session's prompts. */
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
  // Counted over the server and not the list: a further deny rule must not change which tools are deferred, which would
  // invalidate prompt caches.
  const deferral = { ...configuration, builtInCount: baseTools.filter((tool) => tool.isEnabled({})).length };
  const deferred = new Set(tools.filter((tool) => isDeferredTool(tool, deferral)).map(({ name }) => name));
  const innerTools = context.toolMode === 'repl' ? toolsOfInnerCalls(tools, base, context, configuration) : tools;
  if (context.toolMode === 'repl' && configuration.replTool !== undefined) deferred.delete(configuration.replTool);
  const visibleByName = index(tools, (tool) => tool);
  const innerByName = innerTools === tools ? visibleByName : index(innerTools, (tool) => tool);
  const hiddenByName = index(hidden, (entry) => entry.tool);

  return {
    tools,
    builtInCount,
    mcpCount: external.visible.length,
    sessionCount: own.visible.length,
    hidden,
    lookup: (name) => visibleByName.get(name),
    innerTools,
    lookupInner: (name) => innerByName.get(name),
    whyHidden: (name) => hiddenByName.get(name)?.cause,
    hiddenTool: (name) => hiddenByName.get(name),
    isDeferred: ({ name }) => deferred.has(name),
  };
}

/** Return the listed tools, and the built-ins that only the mode hides. */
function toolsOfInnerCalls(
  tools: readonly Tool[],
  builtIns: readonly Tool[],
  context: PoolContext,
  configuration: PoolConfiguration,
): readonly Tool[] {
  const others = builtIns.filter((tool) => !tools.includes(tool));
  const { visible } = getTools(others.toSorted(byName), { ...context, toolMode: 'normal' }, configuration);
  return Object.freeze([...tools, ...visible]);
}

/** Create a pool whose prompts are rendered for a session, or for no session. */
export function poolForContext(members: PoolMembers, { principal, cwd, permissions, home }: ListContext): ToolPool {
  let prefixSha256: string | undefined;
  const pool: ToolPool = Object.freeze({
    ...members,
    principal,
    cwd,
    permissions,
    ...(home && { home }),
    get prefixSha256() {
      return (prefixSha256 ??= builtInPrefixSha256(pool));
    },
  });
  return pool;
}

function byName(left: Tool, right: Tool): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}

/** Select external tools: sorted, the first of each name, without those that have a built-in's name or alias. */
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

/** Index entries by name, and by alias where no name is equal; the earlier entry takes precedence. */
function index<Entry>(entries: readonly Entry[], toolOf: (entry: Entry) => Tool): ReadonlyMap<string, Entry> {
  const found = new Map(entries.map((entry) => [toolOf(entry).name, entry]));
  for (const entry of entries) {
    for (const alias of toolOf(entry).aliases ?? []) if (!found.has(alias)) found.set(alias, entry);
  }
  return found;
}

/**
 * Compute the SHA-256, in hex, of the UTF-8 bytes of the JSON array of `tools[0..built_in_count)` of the default list.
 *
 * A client computes the same from its reply as `sha256(JSON.stringify(tools.slice(0, built_in_count)))`.
 */
function builtInPrefixSha256(pool: ToolPool): string {
  const builtIns = pool.tools.slice(0, pool.builtInCount);
  const entries = builtIns.map((tool) => describeEntry(tool, pool, { format: 'anthropic', schemas: 'by deferral' }));
  return createHash('sha256').update(JSON.stringify(entries)).digest('hex');
}
