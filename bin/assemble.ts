/**
 * Creates the parts of a server, each once, and connects them.
 */
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Logger } from 'pino';
import type { Limits } from '../config/limits.ts';
import type { Settings } from '../config/settings.ts';
import { OWNER } from '../config/settings/principals.ts';
import { loadAgentTypes } from '../src/agents/agent-types.ts';
import { createSampler } from '../src/agents/sampler.ts';
import { GauntletError, isGauntletError } from '../src/base/errors.ts';
import { createFileHistory } from '../src/files/history.ts';
import { createLocatePath } from '../src/files/scope.ts';
import { type DeadMatcher, deadMatchers } from '../src/hooks/compile-hooks.ts';
import { createHooks } from '../src/hooks/hooks.ts';
import { openAuditFile } from '../src/log/audit-file.ts';
import { AuditTrail } from '../src/log/audit-trail.ts';
import type { CallMetrics } from '../src/log/call-metrics.ts';
import type { DataDirectory } from '../src/log/data-directory.ts';
import type { FrameLog } from '../src/log/frame-log.ts';
import type { OnLogProblem } from '../src/log/log-problem.ts';
import { observedLog } from '../src/log/observed-log.ts';
import { openSqliteLog } from '../src/log/sqlite-log.ts';
import { createMcpConnections, type McpConnections, type McpLogins } from '../src/mcp/connections.ts';
import { createPermissionContext } from '../src/permissions/context.ts';
import { type DeadRule, deadRules } from '../src/permissions/dead-rules.ts';
import { ruleKeys } from '../src/permissions/rule.ts';
import type { ToolPool } from '../src/pool/tool-pool.ts';
import { createToolPools } from '../src/pool/tool-pools.ts';
import { findProgram } from '../src/process/find-program.ts';
import type { StartedHost } from '../src/process/host-connection.ts';
import { createProcessHost, type ManagedProcessHost } from '../src/process/host-client.ts';
import { createJail, type Jail } from '../src/process/jail/jail.ts';
import { createLookup } from '../src/process/proxy/lookup.ts';
import { runProgram } from '../src/process/run-program.ts';
import { openSandbox, type Sandbox } from '../src/process/sandbox.ts';
import { createNewSessionPools } from '../src/session/directory/new-session.ts';
import { type DirectoryServices, SessionDirectory } from '../src/session/directory/session-directory.ts';
import { Schedules } from '../src/tasks/schedules.ts';
import { Triggers } from '../src/tasks/triggers.ts';
import type { SkillPrompt } from '../routes/dependencies.ts';
import type { Tool } from '../src/tool/tool.ts';
import type { ToolMode } from '../src/wire/permission-context.ts';
import {
  createCodeProcesses,
  getAllBaseTools,
  HIDDEN_IN_REPL,
  loadSkills,
  REPL_TOOL,
  SIMPLE_TOOLS,
  SKILL_TOOL,
} from '../tools/index.ts';
import { type Approvals, createApprovals } from './approvals.ts';
import { installationPaths } from './installation.ts';
import { createNetworkDenials, type NetworkDenials } from './network-denials.ts';
import { limitsOfPrincipals } from './principal-access.ts';
import { createRetention } from './retention.ts';
import { createTriggerStart } from './saved-triggers.ts';
import { createScheduledRuns } from './scheduled-runs.ts';
import { createCallMetrics, metricsText } from './server-metrics.ts';
import { sessionServices } from './session-services.ts';

/** A server without its routes. */
export interface Engine {
  readonly directory: SessionDirectory;
  /** Return the tools that a new session of the principal would see. @throws {GauntletError} `invalid_request` */
  newSessionPool(principal: string, toolMode: ToolMode): ToolPool;
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
  /** Call `listener` each time external tools came or went. @returns A function that ends that. */
  onToolsChanged(listener: () => void): () => void;
  /** Logins at MCP servers. */
  readonly logins: McpLogins & Pick<McpConnections, 'states'>;
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
  const toolChanges = createToolChanges();
  const mcp = serversOf(settings, { ...parts, data }, logger, toolChanges.announce);
  const jail = await jailOf(settings, data, processHost, sandbox);
  const written = await writtenParts(settings, logger);
  const baseTools = getAllBaseTools({ ...settings, ...parts, ...written, mcp, sandbox, jail });
  const plugins = await loadPlugins(settings, baseTools);
  knownTools = [...baseTools, ...plugins];
  const toolNames = namesInRules(settings, knownTools);
  const pools = createToolPools(baseTools, { ...settings, ...TOOL_MODE_TOOLS });

  const { close: closeApprovals, ...approvals } = createApprovals(settings, logger);
  const onFault = (error: unknown, what: string) => logger.error({ err: error }, what);
  const limitsOf = limitsOfPrincipals(settings);
  const services = sessionServices(settings, {
    ...{ log, store, pools, locate, hooks, history },
    ...approvals,
    ...{ limitsOf, toolNames, onFault },
    externalTools: withPlugins(mcp, plugins),
    sessionFolder: (sessionId) => data.sessionFolder(sessionId),
    endProcesses: async (sessionId) => {
      await Promise.all([parts.codeProcesses.endSession(sessionId), mcp.endSession(sessionId)]);
    },
  });
  const directory = new SessionDirectory(services);
  const scheduled = createScheduledRuns(settings, { schedules, directory, onFault });
  const retention = createRetention(settings, { ...services, directory, data });
  toolChanges.listen(() => directory.announceTools());

  return {
    directory,
    newSessionPool: createNewSessionPools(services),
    startTrigger: createTriggerStart(parts.triggers, directory),
    ...countTools(settings, services, baseTools),
    limitsOf,
    trail: parts.trail,
    ...findUnusable(settings, toolNames, approvals.twoPerson),
    containment: () => jail.state(),
    metrics: () => metricsText({ ...parts, directory, mcp, networkDenials: () => denials.count() }),
    ...forMcpClients(written.skills, toolChanges.listen, mcp),
    logins: mcp,
    start: (oauthCallback) => {
      mcp.start(oauthCallback);
      scheduled.start();
      warm(processHost, jail).catch((error: unknown) => onFault(error, 'The process host did not start'));
    },
    drain: (signal) => scheduled.drain(signal),
    close: async () => {
      scheduled.close();
      await retention.close();
      await directory.close();
      closeApprovals();
      await closeParts({ ...parts, mcp, sandbox });
    },
  };
}

/** Collect what MCP clients are served, beside sessions. */
function forMcpClients(
  skills: Awaited<ReturnType<typeof writtenParts>>['skills'],
  onToolsChanged: Engine['onToolsChanged'],
  upstreams: McpConnections,
): Pick<Engine, 'skills' | 'onToolsChanged' | 'upstreams'> {
  const list = skills.filter(({ isHidden }) => !isHidden);
  return { skills: { tool: SKILL_TOOL, list }, onToolsChanged, upstreams };
}

/** Create the announcement of changed external tools, and its listeners. */
function createToolChanges(): { announce(this: void): void; readonly listen: Engine['onToolsChanged'] } {
  const listeners = new Set<() => void>();
  return {
    announce: () => listeners.forEach((listener) => listener()),
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Close the parts: children first, the log last. */
async function closeParts({
  hooks,
  mcp,
  codeProcesses,
  processHost,
  sandbox,
  log,
}: Pick<ReturnType<typeof openParts>, 'hooks' | 'codeProcesses' | 'processHost' | 'log'> & {
  readonly mcp: McpConnections;
  readonly sandbox: Sandbox | undefined;
}): Promise<void> {
  await hooks?.close();
  await mcp.close();
  await codeProcesses.close();
  await processHost.close();
  sandbox?.close();
  await log.close();
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
function namesInRules({ mcpServers }: Settings, tools: readonly Tool[]): DirectoryServices['toolNames'] {
  const servers = Object.keys(mcpServers).flatMap((name) => ruleKeys({ name: '', origin: { type: 'mcp', name } }));
  return { tools: tools.flatMap(({ name, aliases = [] }) => [name, ...aliases]), servers };
}

function findUnusable(
  { permissions, hooks }: Settings,
  { tools, servers }: DirectoryServices['toolNames'],
  twoPerson: Approvals['twoPerson'],
): Pick<Engine, 'deadRules' | 'deadMatchers'> {
  const context = createPermissionContext({ ...permissions, mode: permissions.defaultMode });
  const contexts = [context, ...(twoPerson ? [twoPerson.permissions] : [])];
  return {
    deadRules: contexts.flatMap((rules) => deadRules(rules, [...tools, ...servers])),
    deadMatchers: deadMatchers(hooks, tools),
  };
}

interface OpenPartsOptions {
  readonly data: DataDirectory;
  readonly logger: Logger;
  readonly host: StartedHost;
  /** Return the built-in tools and those of plugins. */
  tools(): readonly Tool[];
}

function openParts(settings: Settings, { data, logger, host, tools }: OpenPartsOptions) {
  const { limits, durability, settingsFile, policyFile, tokenFileByHand, plugins, skillFolders } = settings;
  const processHost = createProcessHost({ limits, ownerId: data.id, started: host });
  const hooks = createHooks(settings.hooks, {
    limits,
    runCommand: (command) => runProgram(processHost, command),
  });
  const privateFolders = tokenFileByHand === undefined ? [data.path] : [data.path, tokenFileByHand];
  const onProblem: OnLogProblem = ({ message, ...particulars }) => logger.error(particulars, message);
  const sqlite = openSqliteLog({ folder: data.path, limits, durability, onProblem });
  const calls = createCallMetrics(tools);
  return {
    hooks,
    calls,
    ...openAudit(sqlite, data.path, { limits, onProblem, calls }),
    store: sqlite.store,
    triggers: new Triggers(sqlite.store),
    schedules: new Schedules({
      store: sqlite.store,
      onFault: (error, what) => logger.error({ err: error }, what),
    }),
    processHost,
    codeProcesses: createCodeProcesses(),
    hasGit: findProgram('git', process.env['PATH']) !== undefined,
    history: createFileHistory({ folder: (sessionId) => data.historyFolder(sessionId), limits }),
    privateFolders,
    locate: createLocatePath({
      protectedPaths: [settingsFile, policyFile, ...plugins.filter(isAbsolute), ...skillFolders].filter(
        (path) => path !== undefined,
      ),
      privateFolders,
      readOnlyPaths: installationPaths(),
    }),
  };
}

async function jailOf(
  settings: Settings,
  data: DataDirectory,
  host: ManagedProcessHost,
  sandbox: Sandbox | undefined,
): Promise<Jail> {
  const { settingsFile, policyFile, tokenFileByHand, containment, limits } = settings;
  const jail = createJail({
    settings: containment,
    host,
    ownPaths: [data.path, settingsFile, policyFile, tokenFileByHand].filter((path) => path !== undefined),
    readOnlyPaths: installationPaths(),
    folder: join(data.path, 'jail'),
    limits,
    ...(sandbox && { hidden: sandbox.hidden }),
  });
  if (containment.isRequired) await requireJail(jail);
  return jail;
}

/** @throws {GauntletError} `invalid_setting` if this machine supports no jail. */
async function requireJail(jail: Jail): Promise<void> {
  const { missing } = await jail.state();
  if (missing === undefined) return;
  const fix = 'Use Linux 6.12 or newer or install bubblewrap, or take the setting away';
  throw new GauntletError('invalid_setting', `"containment.required" is set, and there is no jail: ${missing}. ${fix}`);
}

/** Tried before the server listens, because the tool list mentions the sandbox. */
function sandboxOf(settings: Settings, data: DataDirectory, logger: Logger, { onDenied }: NetworkDenials) {
  const { settingsFile, policyFile, tokenFileByHand, limits } = settings;
  return openSandbox({
    ...settings.sandbox,
    homeFolder: homedir(),
    ownPaths: [data.path, settingsFile, policyFile, tokenFileByHand].filter((path) => path !== undefined),
    readOnlyPaths: installationPaths(),
    folder: join(data.path, 'sandbox'),
    limits,
    onDenied,
    onMissing: (why) => logger.warn({ why }, 'Commands run without a sandbox, although "sandbox.mode" is "auto"'),
  });
}

function serversOf(
  { mcpServers: servers, mcpSampling: sampling, workspace: folder, limits, principals }: Settings,
  {
    processHost,
    store,
    data,
  }: Pick<ReturnType<typeof openParts>, 'processHost' | 'store'> & {
    readonly data: DataDirectory;
  },
  logger: Logger,
  onToolsChanged: () => void,
): McpConnections {
  return createMcpConnections({
    servers,
    ...(sampling && { sampler: createSampler(sampling.name, sampling.model, sampling.maxTokens) }),
    processHost,
    store,
    principals: [OWNER, ...principals.map(({ name }) => name)],
    lookup: createLookup(),
    folder,
    pinFile: join(data.path, 'mcp-pins.json'),
    limits,
    onToolsChanged,
    onNotice: (level, code, message) => logger[level === 'info' ? 'info' : 'warn']({ code }, message),
  });
}

/** Return the function that lists a principal's tools of MCP servers and plugins: the same array until they change. */
function withPlugins(mcp: McpConnections, plugins: readonly Tool[]): (principal?: string) => readonly Tool[] {
  const lists = new WeakMap<readonly Tool[], readonly Tool[]>();
  return (principal) => {
    const lent = mcp.tools(principal);
    const list = lists.get(lent) ?? Object.freeze([...lent, ...plugins]);
    lists.set(lent, list);
    return list;
  };
}

/** Start the process host, after ending the processes that an earlier server left. */
async function warm(processHost: ManagedProcessHost, jail: Jail): Promise<void> {
  try {
    await Promise.all([processHost.sweepOrphans(), jail.state()]);
  } catch (error) {
    // A server that is stopped as soon as it listens needs no process host.
    if (!isGauntletError(error, 'shutting_down')) throw error;
  }
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

/**
 * Open the audit trail; it closes with the log.
 *
 * @throws {GauntletError} `invalid_setting` if its folder is not private.
 */
function openAudit(
  log: FrameLog,
  dataFolder: string,
  {
    limits,
    onProblem,
    calls,
  }: { readonly limits: Limits; readonly onProblem: OnLogProblem; readonly calls: CallMetrics },
): { readonly log: FrameLog; readonly trail: AuditTrail } {
  const file = openAuditFile({ folder: join(dataFolder, 'audit'), limits, onProblem });
  const trail = new AuditTrail({ file, principalOf: (sessionId) => log.find(sessionId)?.principal });
  return { log: observedLog(log, [trail, calls]), trail };
}
