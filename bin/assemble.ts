/**
 * Creates the parts of a server, each once, and connects them.
 */
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import { OWNER } from '../config/settings/principals.ts';
import { loadAgentTypes } from '../src/agents/agent-types.ts';
import { GauntletError } from '../src/base/errors.ts';
import { type DeadMatcher, deadMatchers } from '../src/hooks/compile-hooks.ts';
import { type AuditTrail } from '../src/log/audit-trail.ts';
import type { DataDirectory } from '../src/log/data-directory.ts';
import type { OpenSharedStore } from '../src/log/shared-store.ts';
import type { CallerServers } from '../src/mcp/caller-servers.ts';
import type { McpConnections } from '../src/mcp/connections.ts';
import type { FolderServers } from '../src/mcp/folder-servers.ts';
import { poolPreambles, type PreambleParts } from '../src/mcp/preamble.ts';
import { createPermissionContext } from '../src/permissions/context.ts';
import { type DeadRule, deadRules } from '../src/permissions/dead-rules.ts';
import { ruleKeys } from '../src/permissions/rule.ts';
import type { PoolContext } from '../src/pool/get-tools.ts';
import type { ToolPool } from '../src/pool/tool-pool.ts';
import { createToolPools } from '../src/pool/tool-pools.ts';
import type { StartedHost } from '../src/process/host-connection.ts';
import { type Jail } from '../src/process/jail/jail.ts';
import { createNewSessionPools } from '../src/session/directory/new-session.ts';
import { createCallSearch, type SearchCalls } from '../src/session/search/search-calls.ts';
import { type DirectoryServices, SessionDirectory } from '../src/session/directory/session-directory.ts';
import type { SkillPrompt } from '../routes/dependencies.ts';
import type { Tool } from '../src/tool/tool.ts';
import type { ToolMode } from '../src/wire/permission-context.ts';
import {
  getAllBaseTools,
  HIDDEN_IN_REPL,
  loadSkills,
  REPL_TOOL,
  RESOURCE_TOOL,
  SIMPLE_TOOLS,
  SKILL_TOOL,
} from '../tools/index.ts';
import { type Approvals, createApprovals } from './approvals.ts';
import {
  closeParts,
  endConnections,
  endProcesses,
  jailOf,
  openParts,
  sandboxOf,
  serversOf,
  warm,
} from './engine-parts.ts';
import { createNetworkDenials } from './network-denials.ts';
import { limitsOfPrincipals } from './principal-access.ts';
import { createRetention } from './retention.ts';
import { createTriggerStart } from './saved-triggers.ts';
import { createScheduledRuns } from './scheduled-runs.ts';
import { metricsText } from './server-metrics.ts';
import { sessionServices } from './session-services.ts';

/** A server without its routes. */
export interface Engine {
  readonly directory: SessionDirectory;
  /** Return the tools that a new session of the principal would see. @throws {GauntletError} `invalid_request` */
  newSessionPool(principal: string, toolMode: ToolMode): ToolPool;
  /** Return the words ahead of a list of tools; undefined if there are none. */
  preamble(pool: ToolPool): PreambleParts | undefined;
  /** Start a saved batch of a principal. */
  startTrigger: ReturnType<typeof createTriggerStart>;
  /** Number of tools in the owner's sessions under the server's own settings, for the banner. */
  readonly toolCount: number;
  readonly hasRepl: boolean;
  readonly limitsOf: ReturnType<typeof limitsOfPrincipals>;
  /** Rules of the settings that can never apply. */
  readonly deadRules: readonly DeadRule[];
  /** Hook matchers that match no tool. */
  readonly deadMatchers: readonly DeadMatcher[];
  /** Entries that outlive sessions, of principals and of the server itself. */
  readonly store: OpenSharedStore;
  /** Search the calls of a principal's sessions. */
  readonly searchCalls: SearchCalls;
  /** Called for bad credentials; the trail reads everything else from the log. */
  readonly trail: Pick<AuditTrail, 'recordBadCredential'>;
  /** Return the mechanism that contains commands that run without a question. */
  containment: Jail['state'];
  /** Return the figures of `/metrics` in the text format of Prometheus. */
  metrics(): string;
  /** MCP servers that are passed through. */
  readonly upstreams: McpConnections;
  /** Skills that people wrote and models may load, and the tool that loads them. */
  readonly skills: { readonly tool: string; readonly list: readonly SkillPrompt[] };
  /** Tool that reads a resource of an MCP server. */
  readonly resourceTool: string;
  /**
   * Call `listener` each time external tools came or went, with the session if they are of one alone.
   *
   * @returns A function that ends that.
   */
  onToolsChanged(listener: (sessionId?: string) => void): () => void;
  /** Logins at MCP servers. */
  readonly logins: CallerServers;
  /**
   * Start what may wait until the server listens: MCP servers, warm shells, and ending the processes of a killed
   * server.
   *
   * @param oauthCallback Address that authorization servers redirect browsers to.
   */
  start(oauthCallback: string | undefined): void;
  /** Begin no scheduled runs, and let running calls finish, as `SessionDirectory.drain`. */
  drain(signal: AbortSignal): Promise<void>;
  /** End every child, connection and task; close the log last. */
  close(): Promise<void>;
}

/** Tools that the tool modes show and hide. */
const TOOL_MODE_TOOLS = { simpleTools: SIMPLE_TOOLS, hiddenInRepl: HIDDEN_IN_REPL, replTool: REPL_TOOL };

/** Create the parts and connect them. Starts nothing that the first call does not need. */
export async function assembleEngine(
  settings: Settings,
  { data, logger, host }: { readonly data: DataDirectory; readonly logger: Logger; readonly host: StartedHost },
): Promise<Engine> {
  const denials = createNetworkDenials(logger);
  const sandbox = await sandboxOf(settings, data, logger, denials);
  let knownTools: readonly Tool[] = [];
  const parts = openParts(settings, { data, logger, host, tools: () => knownTools });
  const { log, processHost, locate, hooks, history, store, schedules } = parts;
  const { announce, listen } = createToolChanges();
  const { mcp, preamble, folderServers, servers } = serversOf(settings, { ...parts, data }, logger, announce);
  const jail = await jailOf(settings, data, processHost, sandbox);
  const written = await writtenParts(settings, logger);
  const baseTools = getAllBaseTools({ ...settings, ...parts, ...written, mcp: servers, preamble, sandbox, jail });
  const plugins = await loadPlugins(settings, baseTools);
  knownTools = [...baseTools, ...plugins];
  const toolNames = namesInRules(settings, knownTools, folderServers);
  const pools = createToolPools(baseTools, { ...settings, ...TOOL_MODE_TOOLS });

  const { close: closeApprovals, ...approvals } = createApprovals(settings, logger);
  const onFault = (error: unknown, what: string) => logger.error({ err: error }, what);
  const limitsOf = limitsOfPrincipals(settings);
  const services = sessionServices(settings, {
    ...{ log, store, pools, locate, hooks, history, limitsOf, toolNames, onFault },
    ...approvals,
    externalTools: withPlugins(mcp, folderServers, plugins),
    endConnections: (sessionId) => endConnections(sessionId, mcp, folderServers),
    sessionFolder: (sessionId) => data.sessionFolder(sessionId),
    endProcesses: (sessionId) => endProcesses(sessionId, parts.codeProcesses, mcp),
  });
  const directory = new SessionDirectory(services);
  const scheduled = createScheduledRuns(settings, { schedules, directory, onFault });
  const retention = createRetention(settings, { ...services, directory, data });
  listen((sessionId) => directory.announceTools(sessionId));

  return {
    directory,
    newSessionPool: createNewSessionPools(services),
    startTrigger: createTriggerStart(parts.triggers, directory),
    ...countTools(settings, services, baseTools),
    ...{ limitsOf, store, trail: parts.trail },
    searchCalls: createCallSearch({ ...services, scan: parts.scan, contextOf: directory.contextOf.bind(directory) }),
    ...findUnusable(settings, toolNames, approvals.twoPerson),
    containment: () => jail.state(),
    metrics: () => metricsText({ ...parts, directory, mcp, networkDenials: () => denials.count() }),
    ...forMcpClients(written.skills, listen, mcp, poolPreambles(servers, preamble)),
    logins: servers,
    start: (oauthCallback) => {
      for (const each of [mcp, folderServers]) each.start(oauthCallback);
      scheduled.start();
      warm(processHost, jail).catch((error: unknown) => onFault(error, 'The process host did not start'));
    },
    drain: (signal) => scheduled.drain(signal),
    close: async () => {
      scheduled.close();
      await retention.close();
      await directory.close();
      closeApprovals();
      await closeParts({ ...parts, mcp, folderServers, sandbox });
    },
  };
}

/** Collect what MCP clients are served, beside sessions. */
function forMcpClients(
  skills: Awaited<ReturnType<typeof writtenParts>>['skills'],
  onToolsChanged: Engine['onToolsChanged'],
  upstreams: McpConnections,
  preamble: Engine['preamble'],
): Pick<Engine, 'skills' | 'resourceTool' | 'preamble' | 'onToolsChanged' | 'upstreams'> {
  const list = skills.filter(({ isHidden }) => !isHidden);
  return { skills: { tool: SKILL_TOOL, list }, resourceTool: RESOURCE_TOOL, preamble, onToolsChanged, upstreams };
}

/** Create the announcement of changed external tools, and its listeners. */
function createToolChanges(): {
  announce(this: void, sessionId?: string): void;
  readonly listen: Engine['onToolsChanged'];
} {
  const listeners = new Set<(sessionId?: string) => void>();
  return {
    announce: (sessionId) => listeners.forEach((listener) => listener(sessionId)),
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** @throws {GauntletError} `invalid_setting` if the tool mode needs a REPL and no tool is one. */
function countTools(
  { toolMode }: Settings,
  services: DirectoryServices,
  baseTools: readonly Tool[],
): Pick<Engine, 'toolCount' | 'hasRepl'> {
  const hasRepl = baseTools.some((tool) => tool.name === REPL_TOOL && tool.isEnabled({}));
  if (toolMode === 'repl' && !hasRepl) {
    const message = `Setting "toolMode": "features" switches ${REPL_TOOL} off; use "normal" or "simple"`;
    throw new GauntletError('invalid_setting', message);
  }
  const pool = services.poolFor({ toolMode, principal: OWNER, permissions: services.permissionsFor(OWNER, {}) });
  return { toolCount: pool.tools.length, hasRepl };
}

/** Collect the names that rules may use. For MCP tools, those of their servers, connected or not. */
function namesInRules({ mcpServers }: Settings, tools: readonly Tool[], folderServers: FolderServers) {
  const serversIn = (folder?: string): readonly string[] =>
    [...Object.keys(mcpServers), ...folderServers.names(folder)].flatMap((name) =>
      ruleKeys({ name: '', origin: { type: 'mcp', name } }),
    );
  return { tools: tools.flatMap(({ name, aliases = [] }) => [name, ...aliases]), serversIn };
}

function findUnusable(
  { permissions, hooks }: Settings,
  { tools, serversIn }: ReturnType<typeof namesInRules>,
  twoPerson: Approvals['twoPerson'],
): Pick<Engine, 'deadRules' | 'deadMatchers'> {
  const context = createPermissionContext({ ...permissions, mode: permissions.defaultMode });
  const contexts = [context, ...(twoPerson ? [twoPerson.permissions] : [])];
  // A rule of the settings may be for a server of any trusted folder.
  const known = [...tools, ...serversIn()];
  return {
    deadRules: contexts.flatMap((rules) => deadRules(rules, known)),
    deadMatchers: deadMatchers(hooks, tools),
  };
}

/** Return the function that lists tools of MCP servers and plugins: the same array until they change. */
function withPlugins(
  mcp: McpConnections,
  folderServers: FolderServers,
  plugins: readonly Tool[],
): (context: PoolContext) => readonly Tool[] {
  const lists = new WeakMap<readonly Tool[], readonly Tool[]>();
  return (context) => {
    const lent = mcp.tools(context.principal);
    const list = lists.get(lent) ?? Object.freeze([...lent, ...plugins]);
    lists.set(lent, list);
    return folderServers.withTools(context, list);
  };
}

/** Types of agents and skills that people wrote; those that cannot be used are named in a warning. */
async function writtenParts({ agents, skillFolders }: Settings, logger: Logger) {
  const { types: agentTypes, problems } = await loadAgentTypes(agents);
  const found = await loadSkills(skillFolders);
  for (const problem of [...problems, ...found.problems]) logger.warn(problem);
  return { agentTypes, skills: found.skills };
}

async function loadPlugins(settings: Settings, baseTools: readonly Tool[]): Promise<readonly Tool[]> {
  if (settings.plugins.length === 0) return Object.freeze([]);
  const { loadPlugins: load } = await import('../src/pool/load-plugins.ts');
  const options = { baseFolder: dirname(settings.settingsFile), builtIns: baseTools, limits: settings.limits };
  return Object.freeze(await load(settings.plugins, options));
}
