/**
 * The parts of a server, each made once and handed to those that need it.
 */
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import type { LocatePath } from '../src/contract/located-path.ts';
import type { Tool } from '../src/contract/tool.ts';
import { createLocatePath } from '../src/files/scope.ts';
import { createWriterRegistry } from '../src/files/writers.ts';
import type { DataDirectory } from '../src/log/data-directory.ts';
import { openSqliteLog } from '../src/log/sqlite-log.ts';
import { createMcpConnections } from '../src/mcp/connections.ts';
import { createToolPools, type ToolPools } from '../src/pool/tool-pools.ts';
import { createProcessHost } from '../src/process/host-client.ts';
import { SessionDirectory } from '../src/session/session-directory.ts';
import { createBackgroundTasks } from '../src/work/background-tasks.ts';
import { getAllBaseTools, HIDDEN_IN_REPL, SIMPLE_TOOLS } from '../tools/index.ts';
import { sessionServices } from './session-services.ts';

/** A server without its doors. */
export interface Engine {
  readonly directory: SessionDirectory;
  readonly pools: ToolPools;
  externalTools(): readonly Tool[];
  /** What may wait until the server listens: MCP servers, warm shells, what a dead server left running. */
  start(): void;
  /** End every child, connection and task; the log last. */
  close(): Promise<void>;
}

/** Put the parts together. Nothing is started that a first call does not need. */
export async function assembleEngine(settings: Settings, data: DataDirectory, logger: Logger): Promise<Engine> {
  const { limits } = settings;
  const onFault = (error: unknown, what: string) => logger.error({ err: error }, what);
  const log = openSqliteLog({
    folder: data.path,
    limits,
    durability: settings.durability,
    onProblem: ({ message, ...particulars }) => logger.error(particulars, message),
  });
  const processHost = createProcessHost({ limits, ownerId: data.id });
  const backgroundTasks = createBackgroundTasks({ limits });
  const locate = locator(settings, data);

  const mcp = createMcpConnections({
    servers: settings.mcpServers,
    processHost,
    folder: settings.workspace,
    limits,
    onToolsChanged: () => {
      external = Object.freeze([...mcp.tools(), ...plugins]);
      directory.announceTools();
    },
    onNotice: (level, code, message) => logger[level === 'info' ? 'info' : 'warn']({ code }, message),
  });
  const baseTools = getAllBaseTools({
    limits,
    locate,
    writers: createWriterRegistry(limits.writerRecords),
    processHost,
    backgroundTasks,
    mcp,
    privateFolders: [data.path],
    toolSearch: settings.toolSearch,
  });
  const plugins = await loadPlugins(settings, baseTools);
  let external: readonly Tool[] = plugins;

  const pools = createToolPools(baseTools, {
    simpleTools: SIMPLE_TOOLS,
    hiddenInRepl: HIDDEN_IN_REPL,
    toolSearch: settings.toolSearch,
    limits,
  });
  const directory = new SessionDirectory(
    sessionServices(settings, {
      log,
      pools,
      locate,
      onFault,
      externalTools: () => external,
      sessionFolder: (sessionId) => data.sessionFolder(sessionId),
      onSessionEnd: (sessionId) => {
        backgroundTasks.stopAll(sessionId).catch((error: unknown) => onFault(error, 'A task could not be stopped'));
      },
    }),
  );

  return {
    directory,
    pools,
    externalTools: () => external,
    start: () => {
      mcp.start();
      processHost
        .sweepOrphans()
        .then(() => processHost.warm())
        .catch((error: unknown) => onFault(error, 'The process host did not start'));
    },
    close: async () => {
      directory.close();
      await mcp.close();
      await processHost.close();
      await log.close();
    },
  };
}

function locator(settings: Settings, data: DataDirectory): LocatePath {
  const settingsFiles = [settings.settingsFile, ...(settings.policyFile === undefined ? [] : [settings.policyFile])];
  return createLocatePath({ protectedPaths: settingsFiles, privateFolders: [data.path] });
}

async function loadPlugins(settings: Settings, baseTools: readonly Tool[]): Promise<readonly Tool[]> {
  if (settings.plugins.length === 0) return Object.freeze([]);
  const { loadPlugins: load } = await import('../src/pool/load-plugins.ts');
  const options = { baseFolder: dirname(settings.settingsFile), builtIns: baseTools, limits: settings.limits };
  return Object.freeze(await load(settings.plugins, options));
}
