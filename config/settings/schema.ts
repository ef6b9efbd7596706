/**
 * The shape of the settings file and of an administrator's policy file, as Zod checks them.
 */
import { isIP } from 'node:net';
import * as z from 'zod';
import { DEFAULT_LIMITS, type Limits, LONGEST_TIMER_MS } from '../limits.ts';
import { containment } from './containment.ts';
import { allowedHost, allowedOrigin, listenHost, logLevel, portNumber, tokenText } from './door.ts';
import { hooks } from './hooks.ts';
import { languageServers } from './language-servers.ts';
import { PRINCIPAL_LIMITS } from './principal-limits.ts';
import { reachableHost } from './reachable-host.ts';
import { rules, ruleShape } from './rule-schemas.ts';
import { section } from './section.ts';

const text = z.string().min(1, 'must not be empty');

const httpUrl = z.url({ protocol: /^https?$/ });

/** A key is given, or the variable that holds it is named, not both. */
const apiKey = { apiKey: text.optional(), apiKeyEnv: text.optional() };

/** Settings of the sandbox. */
const sandbox = section({
  mode: z.enum(['off', 'auto', 'required']),
  network: z.union([z.enum(['off', 'on']), section({ allow: z.array(reachableHost) })]).optional(),
  autoAllow: z.boolean().optional(),
});

/** Models that agents may use, by name. */
const agentModels = z.record(
  text,
  section({ provider: z.enum(['anthropic', 'openai']), baseUrl: httpUrl.optional(), ...apiKey, model: text }),
);

/** Hosts that pages may be fetched from although they are not public, and the model that answers prompts about pages. */
const webFetch = section({ allowPrivate: z.array(reachableHost).optional(), model: text.optional() });

/** The search engine. */
const webSearch = section({
  engine: z.enum(['searxng', 'brave', 'tavily']),
  baseUrl: httpUrl.optional(),
  ...apiKey,
});

/** Names of the permission modes; a test holds them equal to those of the contract. */
const permissionMode = z.enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions']);

const permissionShape = {
  ...ruleShape,
  defaultMode: permissionMode.optional(),
  disableBypassPermissionsMode: z.literal('disable').optional(),
};

const permissions = section({ ...permissionShape, classifierModel: text.optional() });

const approvals = section({
  askTimeoutMs: z.int().min(1).max(LONGEST_TIMER_MS).optional(),
  webhooks: z.array(section({ url: z.url({ protocol: /^https?$/ }), secretEnv: text })).optional(),
  twoPerson: rules.optional(),
});

const mcpServerSwitches = {
  alwaysLoad: z.boolean().optional(),
  disabled: z.boolean().optional(),
  connection: z.enum(['shared', 'session']).optional(),
  timeout: z.int().min(1).max(LONGEST_TIMER_MS).optional(),
};

/** The model that answers MCP servers, and the longest answer. */
const mcpSampling = section({ model: text.optional(), maxTokens: z.int().min(1).max(100_000).optional() });

/** Scopes as a list, or as OAuth writes them: with blanks between. */
const scopes = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(' ').filter((scope) => scope !== '') : value),
  z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be scopes, such as "read write"')),
);

/** Issuers (RFC 8414): addresses without a query and a fragment. HTTP suffices on this machine. */
const issuer = z
  .url({ protocol: /^https?$/ })
  .regex(/^[^?#"\\]+$/, 'must have no query and no fragment')
  .regex(/^(?:https:|http:\/\/127\.0\.0\.1[:/])/, 'must be HTTPS');

/** The authorization servers that MCP clients are sent to. */
const mcpAuthorization = section({
  servers: z.array(issuer).min(1).max(16),
  scopes: scopes.optional(),
  principalClaim: text.optional(),
});

const mcpOAuth = section({
  grant: z.enum(['authorization_code', 'client_credentials']).optional(),
  clientId: text.optional(),
  clientSecret: text.optional(),
  privateKey: text.optional(),
  issuer: httpUrl.optional(),
  scopes: scopes.optional(),
}).superRefine(({ grant, clientId, clientSecret, privateKey, issuer }, context) => {
  const demand = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
  const proof = clientSecret ?? privateKey;
  if (clientSecret !== undefined && privateKey !== undefined)
    demand('privateKey', 'stands beside "clientSecret"; keep one');
  if (clientId === undefined && proof !== undefined) demand('clientId', 'is required, since there is a secret or key');
  if (grant !== 'client_credentials') return;
  if (clientId === undefined) demand('clientId', 'is required by the grant "client_credentials"');
  if (proof === undefined) demand('clientSecret', 'or "privateKey" is required by the grant "client_credentials"');
  if (issuer === undefined) demand('issuer', 'is required by the grant "client_credentials": who may get the secret');
});

const mcpRemote = {
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()).optional(),
  headersHelper: text.optional(),
  oauth: mcpOAuth.optional(),
};

/** An entry of `mcpServers` in our own shape. */
export const mcpServer = z.preprocess(
  // The shape of `.mcp.json`: an entry without a type is a command.
  (entry) => (isRecord(entry) && !('type' in entry) ? { type: 'stdio', ...entry } : entry),
  z.discriminatedUnion('type', [
    section({
      type: z.literal('stdio'),
      command: text,
      args: z.array(z.string()).optional(),
      env: z.record(z.string(), z.string()).optional(),
      cwd: text.optional(),
      ...mcpServerSwitches,
    }),
    section({ type: z.literal('http'), ...mcpRemote, ...mcpServerSwitches }),
    section({ type: z.literal('sse'), ...mcpRemote, ...mcpServerSwitches }),
  ]),
);

const proxyAddress = z.string().refine(isProxyAddress, 'must be an IP address or a range such as "10.0.0.0/8"');

const limits = limitsSection(Object.keys(DEFAULT_LIMITS) as (keyof Limits)[]);

/** The settings file. */
export const settingsFileSchema = section({
  // What the environment may say too; the environment wins.
  host: listenHost.optional(),
  port: portNumber.optional(),
  token: tokenText.optional(),
  tokenFile: text.optional(),
  workspace: text.optional(),
  allowedHosts: z.array(allowedHost).optional(),
  allowedOrigins: z.array(allowedOrigin).optional(),
  logLevel: logLevel.optional(),
  maxToolUseConcurrency: z.int().min(1).optional(),

  permissions: permissions.optional(),
  approvals: approvals.optional(),
  toolMode: z.enum(['normal', 'simple', 'repl']).optional(),
  features: z.record(z.string(), z.boolean()).optional(),
  durability: z.enum(['process', 'power']).optional(),
  trustProxy: z.union([proxyAddress.transform((address) => [address]), z.array(proxyAddress)]).optional(),
  trustedWorkspaces: z.array(text).optional(),
  hooks: hooks.optional(),
  // Each entry is checked by itself, so that a wrong one takes no other with it.
  mcpServers: z.record(text, z.unknown()).optional(),
  servers: z.record(text, z.unknown()).optional(),
  mcp_servers: z.record(text, z.unknown()).optional(),
  inputs: z.array(z.unknown()).optional(),
  mcpSampling: mcpSampling.optional(),
  mcpAuthorization: mcpAuthorization.optional(),
  publicUrl: httpUrl.optional(),
  console: z.boolean().optional(),
  models: agentModels.optional(),
  webSearch: webSearch.optional(),
  webFetch: webFetch.optional(),
  principals: principals(permissionMode, limitsSection(PRINCIPAL_LIMITS)).optional(),
  toolSearch: z.enum(['auto', 'always', 'off']).optional(),
  siblingAbort: z.enum(['bash', 'mutating-bash', 'never']).optional(),
  readUnchanged: z.enum(['send', 'stub']).optional(),
  sandbox: sandbox.optional(),
  containment: containment.optional(),
  agents: z.array(text).optional(),
  skills: z.array(text).optional(),
  plugins: z.array(text).optional(),
  languageServers: languageServers.optional(),
  limits: limits.optional(),
});

/** An administrator's policy file: what may tighten, and nothing else. */
export const policyFileSchema = section({
  permissions: section(permissionShape).optional(),
  hooks: hooks.optional(),
  sandbox: sandbox.optional(),
  containment: containment.optional(),
  limits: limits.optional(),
});

/** A checked settings file. */
export type SettingsFile = z.output<typeof settingsFileSchema>;

/** A checked policy file. */
export type PolicyFile = z.output<typeof policyFileSchema>;

/** A server as `mcpServers` names it, its type filled in. */
export type McpServerSettings = z.output<typeof mcpServer>;

function limitsSection<Name extends keyof Limits>(names: readonly Name[]) {
  const numbers = names.map((name) => [name, limitNumber(name).optional()]);
  return section(Object.fromEntries(numbers) as Record<Name, z.ZodOptional<z.ZodNumber>>);
}

/** A limit is a whole number, at least 1 unless its default is 0 or it is a time; a time fits into a timer. */
function limitNumber(name: keyof Limits): z.ZodNumber {
  const value: number = DEFAULT_LIMITS[name];
  if (!Number.isInteger(value)) return z.number().min(0);
  if (name.endsWith('Ms')) return z.int().min(0).max(LONGEST_TIMER_MS);
  return z.int().min(value === 0 ? 0 : 1);
}

function isProxyAddress(address: string): boolean {
  const [ip = '', bits, ...rest] = address.split('/');
  const version = isIP(ip);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Report whether a value is an object with members. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Principals beside the one of `GAUNTLET_TOKEN`. */
function principals<Mode extends z.ZodType, LimitNumbers extends z.ZodType>(mode: Mode, limits: LimitNumbers) {
  return z.array(
    section({
      name: z.string().regex(/^[\w.@-]{1,64}$/, 'must be 1 to 64 letters, digits, "_", ".", "@" or "-"'),
      tokenSha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits in lower case')
        .optional(),
      roots: z.array(text),
      maxMode: mode.optional(),
      limits: limits.optional(),
    }),
  );
}
