/**
 * The life of a server: assemble, listen and announce; drain and close on a signal.
 */
import type { FastifyInstance } from 'fastify';
import type { AddressInfo } from 'node:net';
import { isInsideFolder } from '../config/containment.ts';
import packageFile from '../package.json' with { type: 'json' };
import pino, { type Logger } from 'pino';
import { spellEndpoint } from '../config/authority.ts';
import { isLoopback } from '../config/settings/door.ts';
import { OWNER } from '../config/settings/principals.ts';
import type { Settings } from '../config/settings.ts';
import { buildApp } from '../routes/app.ts';
import { gaugeText } from '../src/base/instruments.ts';
import { flushTraces, startTracing } from '../src/base/tracing.ts';
import { createAuthenticator, type Credential } from '../routes/credential.ts';
import type { Readiness } from '../src/wire/server-replies.ts';
import { openSignIn, type SignIn } from '../routes/console/sign-in.ts';
import { createSignedTokens, type SignedTokens } from '../routes/signed-token.ts';
import { createTickets } from '../routes/tickets.ts';
import { openDataDirectory } from '../src/log/data-directory.ts';
import type { StartedHost } from '../src/process/host-connection.ts';
import { assembleEngine, type Engine } from './assemble.ts';
import { type BannerFacts, bannerLines } from './banner.ts';
import { browserAddress, consoleAddress } from './console-address.ts';
import { consoleFiles, installationPaths } from './installation.ts';
import { describePrincipals } from './principal-access.ts';
import { logStrayFaults, watchEventLoop } from './stray-faults.ts';
import { credentials } from './token-file.ts';

const DEFAULT_PORT = 80;

/** Run the server; resolves when it listens. It ends on SIGTERM or SIGINT. */
export async function serve(settings: Settings, host: StartedHost): Promise<void> {
  const logger = operatorLog(settings);
  const ended = new AbortController();
  await startTracing(packageFile.version);
  const { dataFolder: path, limits } = settings;
  const data = await openDataDirectory({ path, signal: ended.signal });
  const engine = await assembleEngine(settings, { data, logger, host });
  const state: { readiness: Readiness } = { readiness: 'starting' };
  const hosts = new Set<string>();
  const tokens = credentials(settings);
  const signIn = await openSignIn({ store: engine.store, tokens, signedPrincipals: signedPrincipals(settings) });
  const readiness = () => state.readiness;
  const app = await buildDoors(settings, { engine, logger, hosts, tokens, signIn, readiness });

  logStrayFaults(logger);
  endOnSignal(logger, async () => {
    state.readiness = 'draining';
    await engine.drain(ended.signal);
    await app.close();
    await engine.close();
    await flushTraces();
    data.close();
  });

  // Clients that connect while the event loop is busy wait in the kernel, which limits them too (`somaxconn`).
  await app.listen({ host: settings.host, port: settings.port, backlog: limits.connections });
  const { port } = app.server.address() as AddressInfo;
  for (const host of allowedHosts(settings.allowedHosts, port)) hosts.add(host);
  state.readiness = 'ready';
  const noJailReason = await wordsAlone(settings, engine);
  announce(settings, engine, { port, noJailReason, consoleUrl: consoleUrl(settings, port, signIn) });
  for (const warning of settings.warnings) logger.warn(warning);
  for (const { rule, source, behavior, why } of engine.deadRules)
    logger.warn({ rule, source, behavior }, `A rule never decides anything: ${why}`);
  for (const { key, matcher } of engine.deadMatchers)
    logger.warn({ key, matcher }, 'Hooks that never run: no tool has such a name');
  if (settings.unusedKeys.length > 0)
    logger.warn({ keys: settings.unusedKeys }, 'Settings without effect in this version');
  engine.start(oauthCallback(settings, port));
}

/** Signals that end the server. */
const END_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Signals within this time of the first count as the same one: a service manager signals both us and npm, which
 * forwards it.
 */
const SAME_SIGNAL_MS = 1_000;

/** Drain and close on the first signal; exit at once on a later one. */
function endOnSignal(logger: Logger, close: () => Promise<void>): void {
  let firstMs: number | undefined;
  function onSignal(): void {
    if (firstMs === undefined) {
      firstMs = performance.now();
      close().then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'The server did not close cleanly');
          process.exit(1);
        },
      );
    } else if (performance.now() - firstMs >= SAME_SIGNAL_MS) process.exit(1);
  }
  for (const signal of END_SIGNALS) process.on(signal, onSignal);
}

interface DoorParts {
  readonly engine: Engine;
  readonly logger: Logger;
  readonly hosts: Set<string>;
  readonly tokens: readonly Credential[];
  readonly signIn: SignIn;
  readiness(): Readiness;
}

function buildDoors(settings: Settings, parts: DoorParts): Promise<FastifyInstance> {
  const { engine, logger, hosts, tokens, signIn, readiness } = parts;
  const longestLagMs = watchEventLoop(logger);
  return buildApp({
    directory: engine.directory,
    searchCalls: engine.searchCalls,
    startTrigger: (principal, id) => engine.startTrigger(principal, id),
    newSessionPool: (principal, toolMode) => engine.newSessionPool(principal, toolMode),
    defaultToolMode: settings.toolMode,
    hasRepl: engine.hasRepl,
    authenticate: createAuthenticator(tokens),
    limitsOf: engine.limitsOf,
    principals: [OWNER, ...settings.principals.map(({ name }) => name)],
    describePrincipal: describePrincipals(settings),
    onBadCredential: (address) => engine.trail.recordBadCredential(address),
    hosts,
    origins: new Set(settings.allowedOrigins),
    tickets: createTickets(),
    signIn,
    consoleFolder: settings.console ? consoleFiles() : undefined,
    limits: settings.limits,
    logger,
    trustProxy: settings.trustProxy.length > 0 ? settings.trustProxy : false,
    readiness,
    containment: engine.containment,
    logins: engine.logins,
    skills: engine.skills,
    resourceTool: engine.resourceTool,
    preamble: (pool) => engine.preamble(pool),
    upstreams: engine.upstreams,
    mcpAuthorization: settings.mcpAuthorization,
    signedTokens: signedTokensOf(settings),
    onToolsChanged: engine.onToolsChanged,
    metrics: () => engine.metrics() + serverText(readiness(), longestLagMs()),
    version: packageFile.version,
  });
}

function signedTokensOf(settings: Settings): SignedTokens | undefined {
  const { mcpAuthorization } = settings;
  return mcpAuthorization && createSignedTokens({ ...mcpAuthorization, principals: signedPrincipals(settings) });
}

/** List the principals that signed tokens may name: never the owner. */
function signedPrincipals({ mcpAuthorization, principals }: Settings): readonly string[] {
  return mcpAuthorization?.principalClaim === undefined ? [] : principals.map(({ name }) => name);
}

function serverText(readiness: Readiness, lagMs: number): string {
  return (
    gaugeText('gauntlet_ready', '1 while it takes work', [{ value: readiness === 'ready' ? 1 : 0 }]) +
    gaugeText('gauntlet_event_loop_lag_ms', 'Longest recent delay of the event loop', [{ value: lagMs }])
  );
}

/**
 * Queried before the banner only if the banner may have to report it; otherwise the machine is tried after the server
 * listens.
 */
async function wordsAlone({ containment }: Settings, engine: Engine): Promise<string | undefined> {
  if (containment.scope !== 'off' && !containment.wordsAlone) return undefined;
  const { reading, missing } = await engine.containment();
  return reading === 'words' ? missing : undefined;
}

/** Make a ticket for the owner, whose token is the server's own. */
function consoleUrl(settings: Settings, port: number, signIn: SignIn): string | undefined {
  if (!settings.console) return undefined;
  return consoleAddress(browserAddress(settings, port), signIn.issueTicket({ principal: OWNER }).ticket);
}

interface Announced extends Pick<BannerFacts, 'noJailReason' | 'consoleUrl'> {
  readonly port: number;
}

function announce(settings: Settings, engine: Engine, { port, ...facts }: Announced): void {
  const lines = bannerLines({
    url: `http://${spellEndpoint({ host: settings.host, port })}`,
    hostName: settings.allowedHosts[0],
    tokenFile: settings.token === undefined ? settings.tokenFile : undefined,
    workspace: settings.workspace,
    isReadOnly: installationPaths().some((path) => isInsideFolder(path, settings.workspace)),
    toolCount: engine.toolCount,
    deadRuleCount: engine.deadRules.length,
    ...facts,
  });
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Address that authorization servers redirect browsers to; undefined if no address of this server is known to them. */
function oauthCallback({ publicUrl, host, allowedHosts }: Settings, port: number): string | undefined {
  const isLocal = isLoopback(host) && allowedHosts.length === 0;
  const base = publicUrl ?? (isLocal ? `http://${spellEndpoint({ host, port })}` : undefined);
  return base && `${base.replace(/\/+$/, '')}/oauth/callback`;
}

/** Members of log lines that are never written. */
const SECRET_NAMES = ['token', 'authorization', 'headers', 'ticket', 'credential'];

/** Create the logger. A full disk or a closed pipe on standard error loses lines, but never stops the server. */
function operatorLog({ logLevel }: Pick<Settings, 'logLevel'>): Logger {
  const destination = pino.destination({ dest: 2, sync: false });
  destination.on('error', () => undefined);
  return pino(
    {
      level: logLevel,
      base: undefined,
      redact: SECRET_NAMES.flatMap((name) => [name, `*.${name}`]),
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  );
}

/**
 * Build the allowed `Host` values, in lower case.
 *
 * @param configured The operator's list; a name without a port is allowed alone and with our port. Empty: the loopback
 *   names with the port.
 */
export function allowedHosts(configured: readonly string[], port: number): ReadonlySet<string> {
  if (configured.length > 0) return new Set(configured.flatMap((host) => withOurPort(host.toLowerCase(), port)));
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  const withPort = names.map((name) => `${name}:${port}`);
  return new Set(port === DEFAULT_PORT ? [...withPort, ...names] : withPort);
}

function withOurPort(host: string, port: number): readonly string[] {
  return /:\d+$/.test(host) && !host.endsWith(']') ? [host] : [host, `${host}:${port}`];
}
