/**
 * Parts of a server below its sessions: log, process host, jail, sandbox and connections to MCP servers.
 */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Logger } from 'pino';
import type { Limits } from '../config/limits.ts';
import type { Settings } from '../config/settings.ts';
import { OWNER } from '../config/settings/principals.ts';
import { createSampler } from '../src/agents/sampler.ts';
import { GauntletError, isGauntletError } from '../src/base/errors.ts';
import { createFileHistory } from '../src/files/history.ts';
import { createLocatePath } from '../src/files/scope.ts';
import { createHooks } from '../src/hooks/hooks.ts';
import { openAuditFile } from '../src/log/audit-file.ts';
import { AuditTrail } from '../src/log/audit-trail.ts';
import type { CallMetrics } from '../src/log/call-metrics.ts';
import type { DataDirectory } from '../src/log/data-directory.ts';
import type { FrameLog } from '../src/log/frame-log.ts';
import type { OnLogProblem } from '../src/log/log-problem.ts';
import { observedLog } from '../src/log/observed-log.ts';
import { openSqliteLog } from '../src/log/sqlite-log.ts';
import { type CallerServers, joinServers } from '../src/mcp/caller-servers.ts';
import { createMcpConnections, type McpConnections } from '../src/mcp/connections.ts';
import type { McpEnvironment } from '../src/mcp/environment.ts';
import { readerId } from '../src/mcp/resource-reader.ts';
import { createPreamble, type Preamble } from '../src/mcp/preamble.ts';
import { createFolderServers, type FolderServers } from '../src/mcp/folder-servers.ts';
import { findProgram } from '../src/process/find-program.ts';
import type { StartedHost } from '../src/process/host-connection.ts';
import { createProcessHost, type ManagedProcessHost } from '../src/process/host-client.ts';
import { createJail, type Jail } from '../src/process/jail/jail.ts';
import { createLookup } from '../src/process/proxy/lookup.ts';
import { runProgram } from '../src/process/run-program.ts';
import { openSandbox, type Sandbox } from '../src/process/sandbox.ts';
import { Schedules } from '../src/tasks/schedules.ts';
import { Triggers } from '../src/tasks/triggers.ts';
import type { Tool } from '../src/tool/tool.ts';
import { createCodeProcesses, RESOURCE_TOOL, SKILL_TOOL } from '../tools/index.ts';
import { installationPaths } from './installation.ts';
import type { NetworkDenials } from './network-denials.ts';
import { createCallMetrics } from './server-metrics.ts';

interface OpenPartsOptions {
  readonly data: DataDirectory;
  readonly logger: Logger;
  readonly host: StartedHost;
  /** Return the built-in tools and those of plugins. */
  tools(): readonly Tool[];
}

/** Open the log, the process host and what stands on them. */
export function openParts(settings: Settings, { data, logger, host, tools }: OpenPartsOptions) {
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
    scan: sqlite.scan,
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

/** Create the jail. @throws {GauntletError} `invalid_setting` if one is required and this machine supports none. */
export async function jailOf(
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
export function sandboxOf(settings: Settings, data: DataDirectory, logger: Logger, { onDenied }: NetworkDenials) {
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

/**
 * Create the connections to MCP servers, those of the settings and those of trusted folders, and both as callers have them.
 *
 * @param onToolsChanged Called with the session if the tools are of one alone.
 */
export function serversOf(
  settings: Settings,
  {
    processHost,
    store,
    data,
  }: Pick<ReturnType<typeof openParts>, 'processHost' | 'store'> & {
    readonly data: DataDirectory;
  },
  logger: Logger,
  onToolsChanged: (sessionId?: string) => void,
): {
  readonly mcp: McpConnections;
  readonly preamble: Preamble;
  readonly folderServers: FolderServers;
  readonly servers: CallerServers;
} {
  const { mcpServers, mcpSampling: sampling, workspace: folder, limits, principals } = settings;
  const onNotice: McpEnvironment['onNotice'] = (level, code, message) =>
    logger[level === 'info' ? 'info' : 'warn']({ code }, message);
  const shared = { processHost, store, folder, limits, onNotice, lookup: createLookup() };
  const mcp = createMcpConnections({
    ...shared,
    servers: mcpServers,
    ...(sampling && { sampler: createSampler(sampling.name, sampling.model, sampling.maxTokens) }),
    principals: [OWNER, ...principals.map(({ name }) => name)],
    pinFile: join(data.path, 'mcp-pins.json'),
    onToolsChanged: () => onToolsChanged(),
  });
  const folderServers = createFolderServers({
    ...shared,
    trusted: settings.trustedWorkspaces,
    taken: Object.keys(mcpServers),
    pinFile: join(data.path, 'mcp-folder-pins.json'),
    onSessionTools: onToolsChanged,
  });
  const servers = joinServers(mcp, folderServers);
  const offered = { offers: servers.offers, tools: mcp.tools };
  const preamble = createPreamble(offered, { skillTool: SKILL_TOOL, resourceTool: RESOURCE_TOOL });
  return { mcp, preamble, folderServers, servers };
}

/** Start the process host, after ending the processes that an earlier server left. */
export async function warm(processHost: ManagedProcessHost, jail: Jail): Promise<void> {
  try {
    await Promise.all([processHost.sweepOrphans(), jail.state()]);
  } catch (error) {
    // A server that is stopped as soon as it listens needs no process host.
    if (!isGauntletError(error, 'shutting_down')) throw error;
  }
}

/** Close the parts: children first, the log last. */
export async function closeParts({
  hooks,
  mcp,
  folderServers,
  codeProcesses,
  processHost,
  sandbox,
  log,
}: Pick<ReturnType<typeof openParts>, 'hooks' | 'codeProcesses' | 'processHost' | 'log'> & {
  readonly mcp: McpConnections;
  readonly folderServers: FolderServers;
  readonly sandbox: Sandbox | undefined;
}): Promise<void> {
  await hooks?.close();
  await Promise.all([mcp.close(), folderServers.close()]);
  await codeProcesses.close();
  await processHost.close();
  sandbox?.close();
  await log.close();
}

/** End the connections and subscriptions of a session that is removed, or is not used at present. */
export function endConnections(sessionId: string, mcp: McpConnections, folderServers: FolderServers): Promise<void> {
  mcp.endSubscriptions(readerId(sessionId));
  return folderServers.endSession(sessionId);
}

/** End the processes and connections that a session has of its own. */
export async function endProcesses(
  sessionId: string,
  codeProcesses: ReturnType<typeof createCodeProcesses>,
  mcp: McpConnections,
): Promise<void> {
  // A child session ends without having been loaded and unloaded by itself.
  mcp.endSubscriptions(readerId(sessionId));
  await Promise.all([codeProcesses.endSession(sessionId), mcp.endSession(sessionId)]);
}
