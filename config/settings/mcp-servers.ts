/**
 * The setting `mcpServers`, and the shapes that settings of other programs have: what can be read is read, what has no
 * effect is named, and an entry that cannot be used takes no other with it.
 */
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { SettingsError } from '../settings-error.ts';
import { checked } from './explain.ts';
import { readRegularFile } from './regular-file.ts';
import { isRecord, mcpServer, type McpServerSettings, type SettingsFile } from './schema.ts';
import type { Environment } from './settings-file.ts';

/** An entry that cannot be used; it is listed as failed. */
export interface UnusableMcpServer {
  readonly type: 'unusable';
  readonly reason: string;
}

/** Entries by name. */
export type McpServerEntries = Readonly<Record<string, McpServerSettings | UnusableMcpServer>>;

/** Transports, by the names that other programs have for them. */
const TYPES: Readonly<Record<string, string>> = {
  local: 'stdio',
  remote: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
  streamable_http: 'http',
  streamablehttp: 'http',
};

/** Names of the address, with the transport that each means. */
const ADDRESSES = [
  ['httpUrl', 'http'],
  ['serverUrl', undefined],
  ['url', undefined],
] as const;

/** Members without effect, and why. */
const IGNORED: Readonly<Record<string, string>> = {
  autoApprove: 'only rules allow calls',
  alwaysAllow: 'only rules allow calls',
  trust: 'only rules allow calls',
  includeTools: 'write deny rules',
  excludeTools: 'write deny rules',
  enabled_tools: 'write deny rules',
  disabled_tools: 'write deny rules',
  disabledTools: 'write deny rules',
  startup_timeout_sec: 'the limit "mcpConnectMs" holds for all servers',
  startup_timeout_ms: 'the limit "mcpConnectMs" holds for all servers',
  description: 'nobody reads it',
  name: 'the key is the name',
  icon: 'nobody draws it',
  gallery: 'nobody reads it',
  version: 'nobody reads it',
  dev: 'programs are not watched',
  authProviderType: 'McpAuth logs in',
};

/** Members that only entries of Cline and of its descendants have; their `timeout` is in seconds. */
const CLINE_MEMBERS = ['autoApprove', 'alwaysAllow'];

/** Longest `timeout` of Cline, in seconds; a larger number can only be milliseconds, as everywhere else. */
const MAX_CLINE_SECONDS = 3_600;

/** Members of `oauth` that count. */
const OAUTH = ['grant', 'clientId', 'clientSecret', 'privateKey', 'issuer', 'scopes'];

/** Members that count in the operator's own settings alone. */
const IGNORED_OF_PROJECTS: Readonly<Record<string, string>> = {
  envFile: "a project's file reads no other file",
  headersHelper: "a project's file runs no command for headers",
  env_vars: "a project's file reads no variables",
  env_http_headers: "a project's file reads no variables",
  bearer_token_env_var: "a project's file reads no variables",
  oauth: "a project's file names no client; McpAuth logs in",
};

/**
 * Read all entries of a settings file.
 *
 * @param folder Absolute path that relative paths start from.
 * @param environment Absent for the file of a project, whose entries read neither variables nor files.
 */
export function mcpServerEntries(
  file: Pick<SettingsFile, 'mcpServers' | 'servers' | 'mcp_servers'>,
  folder: string,
  environment?: Environment,
): { readonly servers: McpServerEntries; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const shapes = { mcp_servers: file.mcp_servers, servers: file.servers, mcpServers: file.mcpServers };
  const servers: Record<string, McpServerSettings | UnusableMcpServer> = {};
  for (const [key, entries] of Object.entries(shapes)) {
    for (const [name, entry] of Object.entries(entries ?? {})) {
      const path = `${key}.${name}`;
      try {
        const notes: string[] = [];
        const values = { environment: environment ?? {}, folder, isOfProject: environment === undefined };
        servers[name] = checked(mcpServer, canonical(filled(entry, path, values), notes, values), '', (inner) =>
          [path, ...inner].join('.'),
        );
        warnings.push(...notes.map((note) => `"${path}.${note}`));
      } catch (error) {
        if (!(error instanceof SettingsError)) throw error;
        servers[name] = { type: 'unusable', reason: error.message };
        warnings.push(`The MCP server "${name}" cannot be used: ${error.message}`);
      }
    }
  }
  return { servers, warnings };
}

interface Values {
  readonly environment: Environment;
  readonly folder: string;
  readonly isOfProject: boolean;
}

/** Convert an entry to our own shape. @param notes Gets the end of a sentence for each member without effect. */
function canonical(entry: unknown, notes: string[], values: Values): unknown {
  if (!isRecord(entry)) return entry;
  const rest: Record<string, unknown> = { ...entry };
  const take = (key: string): unknown => {
    const value = rest[key];
    delete rest[key];
    return value;
  };
  const isCline = CLINE_MEMBERS.some((key) => key in rest);
  for (const [key, why] of Object.entries({ ...IGNORED, ...(values.isOfProject && IGNORED_OF_PROJECTS) })) {
    if (take(key) !== undefined) notes.push(`${key}" has no effect: ${why}`);
  }
  const { url, urlType } = addressOf(take);
  const said = take('type') ?? take('transport') ?? take('transportType');
  const type = typeof said === 'string' ? (ownOf(TYPES, said) ?? said) : (said ?? urlType ?? (url ? 'http' : 'stdio'));
  const isEnabled = switchOf(take('enabled'), 'enabled');
  const isDisabled = switchOf(take('disabled'), 'disabled');
  const seconds = take('tool_timeout_sec') ?? (isCline ? secondsOf(rest['timeout']) : undefined);
  const oauth = take('oauth');
  if (url === undefined && take('headersHelper') !== undefined)
    notes.push('headersHelper" has no effect: a program gets no headers');
  const parts = { ...commandOf(rest), ...environmentOf(take, rest, values), ...headersOf(take, rest, values) };
  return {
    type,
    ...rest,
    ...parts,
    ...(url !== undefined && { url }),
    ...(oauth !== undefined && { oauth: knownOAuth(oauth, notes) }),
    ...(isDisabled !== undefined && { disabled: isDisabled }),
    ...(isEnabled === false && { disabled: true }),
    ...(typeof seconds === 'number' && { timeout: Math.ceil(seconds * 1_000) }),
  };
}

/** Read a switch, which people write as text, too. @throws {SettingsError} For anything else. */
function switchOf(value: unknown, key: string): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  throw new SettingsError(key, `"${key}" must be true or false`);
}

function secondsOf(timeout: unknown): number | undefined {
  return typeof timeout === 'number' && timeout <= MAX_CLINE_SECONDS ? timeout : undefined;
}

type Take = (key: string) => unknown;

function addressOf(take: Take): { readonly url?: unknown; readonly urlType?: string | undefined } {
  const found = ADDRESSES.map(([key, urlType]) => ({ url: take(key), urlType })).filter(({ url }) => url !== undefined);
  return found[0] ?? {};
}

/** A program as a list holds its arguments, too. */
function commandOf(rest: Readonly<Record<string, unknown>>): object {
  const { command, args } = rest;
  if (!Array.isArray(command)) return {};
  const [program, ...words] = command as readonly unknown[];
  return { command: program, args: [...words, ...(Array.isArray(args) ? (args as readonly unknown[]) : [])] };
}

/** Variables of `envFile` and those that are passed on by name; `env` wins. */
function environmentOf(take: Take, rest: Readonly<Record<string, unknown>>, { environment, folder }: Values): object {
  const file = take('envFile');
  const names = take('env_vars');
  const own = isRecord(rest['env'])
    ? Object.fromEntries(Object.entries(rest['env']).map(([name, value]) => [name, plain(value)]))
    : rest['env'];
  const passed = Array.isArray(names)
    ? names.flatMap((name) =>
        typeof name === 'string' && ownOf(environment, name) !== undefined ? [[name, environment[name]]] : [],
      )
    : [];
  if (file === undefined && passed.length === 0) return own === undefined ? {} : { env: own };
  if (file !== undefined && typeof file !== 'string') throw new SettingsError('envFile', '"envFile" must be a path');
  const text = file === undefined ? '' : readRegularFile('envFile', resolve(folder, file));
  if (text === undefined) throw new SettingsError('envFile', `"envFile": there is no file "${String(file)}"`);
  return { env: { ...parseEnv(text), ...Object.fromEntries(passed), ...(isRecord(own) ? own : {}) } };
}

/** Headers as Codex and SDKs write them. */
function headersOf(take: Take, rest: Readonly<Record<string, unknown>>, { environment }: Values): object {
  const request = take('requestInit');
  const parts = [isRecord(request) ? request['headers'] : undefined, take('http_headers'), rest['headers']];
  const byVariable = take('env_http_headers');
  const bearer = take('bearer_token_env_var');
  const variable = (name: unknown): string => {
    const value = typeof name === 'string' ? ownOf(environment, name) : undefined;
    if (value !== undefined) return value;
    throw new SettingsError('headers', `the environment variable ${String(name)} is not set; set it`);
  };
  const found = {
    ...Object.fromEntries(
      Object.entries(isRecord(byVariable) ? byVariable : {}).map(([header, name]) => [header, variable(name)]),
    ),
    ...(bearer !== undefined && { Authorization: `Bearer ${variable(bearer)}` }),
  };
  const headers: Record<string, unknown> = Object.assign({}, ...parts.filter(isRecord), found);
  return Object.keys(headers).length === 0 ? {} : { headers };
}

function knownOAuth(oauth: unknown, notes: string[]): unknown {
  if (!isRecord(oauth)) return oauth;
  const odd = Object.keys(oauth).filter((key) => !OAUTH.includes(key));
  notes.push(...odd.map((key) => `oauth.${key}" has no effect`));
  return Object.fromEntries(Object.entries(oauth).filter(([key]) => OAUTH.includes(key)));
}

/** Read a member, but none of the prototype. */
function ownOf<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Numbers and switches are common in `env`. */
function plain(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}|\$\{((?:input|command|config):[^}]*)\}/g;

/** Members whose variables are those of a shell. */
const SHELL_MEMBERS: ReadonlySet<string> = new Set(['headersHelper']);

/** Fill variables into every text of an entry, as other programs write them. */
function filled(value: unknown, path: string, values: Values): unknown {
  if (Array.isArray(value)) return value.map((item, index) => filled(item, `${path}.${index}`, values));
  if (isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        key,
        SHELL_MEMBERS.has(key) ? member : filled(member, `${path}.${key}`, values),
      ]),
    );
  }
  if (typeof value !== 'string') return value;
  return value.replace(VARIABLE, (_all, name: string | undefined, fallback: string | undefined, asked: string) => {
    if (name === undefined) {
      const why = asked.startsWith('input:') ? 'nobody is asked for values at the start' : 'only an editor knows it';
      throw new SettingsError(path, `${path}: "\${${asked}}": ${why}; write "\${NAME}" and set the variable`);
    }
    const known = ownOf(values.environment, name) ?? fallback ?? folderNamed(name, values);
    if (known !== undefined) return known;
    if (values.isOfProject)
      throw new SettingsError(path, `${path}: "\${${name}}": a project's file reads no variables; write the value`);
    const fix = `set it, or remove "\${${name}}"`;
    throw new SettingsError(path, `${path}: the environment variable ${name} is not set; ${fix}`);
  });
}

function folderNamed(name: string, { folder, environment }: Values): string | undefined {
  if (name === 'workspaceFolder') return folder;
  return name === 'userHome' ? environment['HOME'] : undefined;
}
