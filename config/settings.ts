/**
 * Everything an operator can set becomes one frozen `Settings`: environment over settings file over default,
 * and an administrator's policy over all.
 */
import { dirname } from 'node:path';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { SettingsError } from './settings-error.ts';
import { doorSettings, type DoorSettings } from './settings/door-settings.ts';
import { readEnvironment, unknownVariables, type Variables } from './settings/environment.ts';
import { checked } from './settings/explain.ts';
import { unusedKeys } from './settings/later.ts';
import {
  absolutePath,
  defaultDataFolder,
  pathWarnings,
  realFolder,
  refuseExposedData,
  safeSearchPath,
  workspaceFolder,
} from './settings/paths.ts';
import { type LanguageServerSettings, languageServerSettings } from './settings/language-servers.ts';
import { type McpServerEntries, mcpServerEntries } from './settings/mcp-servers.ts';
import { type McpAuthorizationSettings, mcpAuthorizationSettings } from './settings/mcp-authorization.ts';
import { type McpSamplingSettings, mcpSamplingSettings } from './settings/mcp-sampling.ts';
import { modelSettings, type ModelSettings } from './settings/models.ts';
import { principalSettings, type PrincipalSettings } from './settings/principals.ts';
import { gateSettings, type GateSettings } from './settings/gate-settings.ts';
import { policyFileSchema, settingsFileSchema, type PolicyFile, type SettingsFile } from './settings/schema.ts';
import { readSettingsFile, type Environment } from './settings/settings-file.ts';
import { webFetchSettings, type WebFetchSettings, webSearchSettings, type WebSearchSettings } from './settings/web.ts';

/** All settings of the server. Deeply frozen. Holds secrets: never log it. */
export interface Settings extends DoorSettings, GateSettings {
  /** Absolute; may not exist yet. */
  readonly dataFolder: string;
  /** Absolute real path of an existing folder; every session's `cwd` lies in it. */
  readonly workspace: string;
  /** PATH of the server and of all it starts: without folders that sessions may write to. */
  readonly searchPath: string | undefined;
  /** Absolute; read if it was there. Tools ask before they write to it, also when it does not exist. */
  readonly settingsFile: string;
  /** Absolute; undefined without `GAUNTLET_POLICY`. */
  readonly policyFile: string | undefined;
  readonly logLevel: NonNullable<SettingsFile['logLevel']>;
  readonly toolMode: 'normal' | 'simple' | 'repl';
  /** Feature flags of tools by name; one that is absent has its default. */
  readonly features: Readonly<Record<string, boolean>>;
  readonly durability: 'process' | 'power';
  /** Addresses and ranges whose `X-Forwarded-*` headers are trusted; empty: none. */
  readonly trustProxy: readonly string[];
  /** Principals that have a token beside the server's own. */
  readonly principals: readonly PrincipalSettings[];
  /** Entries that cannot be used included. */
  readonly mcpServers: McpServerEntries;
  /** The model that answers MCP servers; undefined: none does. */
  readonly mcpSampling: McpSamplingSettings | undefined;
  /** Authorization servers whose tokens MCP clients may bring; undefined: they are told of none. */
  readonly mcpAuthorization: McpAuthorizationSettings | undefined;
  /** Address under which browsers reach this server; undefined: the loopback address that it listens on. */
  readonly publicUrl: string | undefined;
  /** True if the console is served. */
  readonly console: boolean;
  /** Models that agents use, by name. */
  readonly models: ReadonlyMap<string, ModelSettings>;
  /** Folders of agent types: absolute. */
  readonly agents: readonly string[];
  readonly webFetch: WebFetchSettings;
  /** Undefined without a search engine. */
  readonly webSearch: WebSearchSettings | undefined;
  /** Folders whose folders are skills: absolute. */
  readonly skillFolders: readonly string[];
  /** Programs that LSP asks, by name. */
  readonly languageServers: Readonly<Record<string, LanguageServerSettings>>;
  readonly toolSearch: 'auto' | 'always' | 'off';
  readonly siblingAbort: 'bash' | 'mutating-bash' | 'never';
  /** Module paths (absolute) and package names. */
  readonly plugins: readonly string[];
  readonly limits: Limits;
  /** Keys that are set and have no effect in this version; named once at start. */
  readonly unusedKeys: readonly string[];
  /** Other things to say once at start, one sentence each. */
  readonly warnings: readonly string[];
}

/** Sources of settings. */
export interface SettingsSources {
  /** `process.env`, with what the command line says put over it. */
  readonly environment: Environment;
  /** Rules of the command line: `allow`, `ask` and `deny`. */
  readonly rules?: Readonly<Record<string, readonly string[]>>;
  /** A file of rules that the command line names. */
  readonly rulesFile?: string;
  /** The folder the server was started in: the workspace unless one is set. Default: the process's. */
  readonly startFolder?: string;
  /** The command only talks to a server: where sessions may work does not matter to it. */
  readonly isClient?: boolean;
}

/**
 * Load, check and freeze the settings.
 *
 * @throws {SettingsError} With one line that names the key and the fix; the process exits with 78.
 */
export function loadSettings(sources: SettingsSources): Settings {
  const { environment, rules = {}, rulesFile, startFolder = process.cwd(), isClient = false } = sources;
  const variables = readEnvironment(environment);
  const resolvePath = (path: string): string => absolutePath(path, startFolder, environment);
  const dataFolder = variables.GAUNTLET_DATA_DIR
    ? resolvePath(variables.GAUNTLET_DATA_DIR)
    : defaultDataFolder(environment);
  const settingsFile = resolvePath(variables.GAUNTLET_CONFIG ?? `${dataFolder}/gauntlet.config.json`);
  const policyFile = variables.GAUNTLET_POLICY ? resolvePath(variables.GAUNTLET_POLICY) : undefined;
  const file = readUserFile(settingsFile, variables, environment);
  const policy = policyFile === undefined ? {} : readPolicyFile(policyFile, environment);
  const workspace = workspaceFolder(resolvePath(variables.GAUNTLET_WORKSPACE ?? file.workspace ?? '.'), dataFolder);
  const limits = mergeLimits(variables, file, policy);
  const doors = doorSettings(variables, file, dataFolder, resolvePath);
  const gate = gateSettings(
    { file, policy, rules, rulesFile: rulesFile && resolvePath(rulesFile) },
    environment,
    (path) => absolutePath(path, workspace, environment),
  );
  const principals = principalSettings(
    file.principals,
    { server: limits, policy: policy.limits },
    (path) => realFolder(absolutePath(path, workspace, environment)),
    file.mcpAuthorization?.principalClaim !== undefined,
  );
  const reachable = [
    { key: 'GAUNTLET_WORKSPACE', path: workspace },
    ...gate.permissions.additionalDirectories.map((path) => ({ key: 'permissions.additionalDirectories', path })),
    ...principals.flatMap(({ roots }, index) => roots.map((path) => ({ key: `principals.${index}.roots`, path }))),
  ];
  if (!isClient) refuseExposedData(reachable, { dataFolder, tokenFile: doors.tokenFileByHand });
  const paths = { workspace, dataFolder, settingsFile, tokenFile: doors.tokenFileByHand, environment };

  const mcpServers = mcpServerEntries(file, workspace, environment);

  return deepFreeze({
    ...doors,
    dataFolder,
    workspace,
    settingsFile,
    policyFile,
    logLevel: variables.GAUNTLET_LOG_LEVEL ?? file.logLevel ?? 'info',
    searchPath: safeSearchPath(
      environment['PATH'],
      reachable.map(({ path }) => path),
    ),
    ...gate,
    principals,
    toolMode: variables.GAUNTLET_SIMPLE ? 'simple' : (file.toolMode ?? 'normal'),
    models: modelSettings(file, environment),
    mcpSampling: mcpSamplingSettings(file, environment),
    mcpAuthorization: mcpAuthorizationSettings(file),
    webFetch: webFetchSettings(file, environment),
    webSearch: webSearchSettings(file, environment),
    ...featureSettings(file, (path) => absolutePath(path, dirname(settingsFile), environment)),
    mcpServers: mcpServers.servers,
    limits,
    unusedKeys: [...unusedKeys(policy), ...unusedKeys(file)],
    warnings: [...unknownVariables(environment), ...doors.warnings, ...pathWarnings(paths), ...mcpServers.warnings],
  });
}

function readUserFile(path: string, variables: Variables, environment: Environment): SettingsFile {
  const value = readSettingsFile('GAUNTLET_CONFIG', path, environment);
  if (value === undefined) {
    if (variables.GAUNTLET_CONFIG === undefined) return {};
    throw new SettingsError('GAUNTLET_CONFIG', `GAUNTLET_CONFIG: there is no file "${path}"; create it or unset it`);
  }
  return checked(settingsFileSchema, value, ` in "${path}"`);
}

function readPolicyFile(path: string, environment: Environment): PolicyFile {
  const value = readSettingsFile('GAUNTLET_POLICY', path, environment);
  if (value === undefined) {
    throw new SettingsError('GAUNTLET_POLICY', `GAUNTLET_POLICY: there is no file "${path}"; create it or unset it`);
  }
  return checked(policyFileSchema, value, ` in "${path}"`);
}

function featureSettings(file: SettingsFile, resolvePath: (path: string) => string) {
  return {
    features: file.features ?? {},
    durability: file.durability ?? 'process',
    trustProxy: file.trustProxy ?? [],
    publicUrl: file.publicUrl,
    console: file.console ?? true,
    skillFolders: (file.skills ?? []).map(resolvePath),
    languageServers: languageServerSettings(file.languageServers, resolvePath),
    toolSearch: file.toolSearch ?? 'auto',
    siblingAbort: file.siblingAbort ?? 'bash',
    agents: (file.agents ?? []).map(resolvePath),
    plugins: (file.plugins ?? []).map((name) => (/^[./~]/.test(name) ? resolvePath(name) : name)),
  } as const;
}

/** Later wins: defaults, the file, its own words for two of them, the environment, the policy. */
function mergeLimits(variables: Variables, file: SettingsFile, policy: PolicyFile): Limits {
  const askTimeoutMs = file.approvals?.askTimeoutMs;
  const toolUseConcurrency = variables.GAUNTLET_MAX_TOOL_USE_CONCURRENCY ?? file.maxToolUseConcurrency;
  return {
    ...DEFAULT_LIMITS,
    ...file.limits,
    ...(askTimeoutMs !== undefined && { askTimeoutMs }),
    ...(toolUseConcurrency !== undefined && { toolUseConcurrency }),
    ...policy.limits,
  };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
