/** The doors, really listening on loopback, over what a test hands them. */
import { createHash } from 'node:crypto';
import { type AddressInfo, connect } from 'node:net';
import { inspect } from 'node:util';
import { afterAll } from 'vitest';
import { plainTool } from './plain-tool.ts';
import { DEFAULT_LIMITS, type Limits } from '../../config/limits.ts';
import { buildApp } from '../../routes/app.ts';
import { createAuthenticator } from '../../routes/credential.ts';
import type { Dependencies, Sessions } from '../../routes/dependencies.ts';
import { allowedHosts } from '../../bin/serve.ts';
import { createTickets } from '../../routes/tickets.ts';
import { GauntletError } from '../../src/base/errors.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { createToolPools, type ToolPools } from '../../src/pool/tool-pools.ts';

/** The token of principal `owner`; `other` has `${TOKEN}-other`. */
export const TOKEN = 'test-token-0123456789';

/** The header `owner` sends. */
export const AUTHORIZATION = { authorization: `Bearer ${TOKEN}` };

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** A directory without sessions. */
export const noSessions: Sessions = {
  create: () => Promise.reject(noSuchSession()),
  createForBatch: () => {
    throw noSuchSession();
  },
  open: () => Promise.reject(noSuchSession()),
  openToAnswer: () => Promise.reject(noSuchSession()),
  standing: () => Promise.reject(noSuchSession()),
  openQuestions: () => Promise.resolve([]),
  list: () => Promise.resolve({ sessions: [] }),
  watch: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }) }),
  relabel: () => Promise.reject(noSuchSession()),
  remove: () => Promise.reject(noSuchSession()),
  usage: () => ({ open: 0, waiting: 0, calls: 0, questions: 0, tasks: 0 }),
};

function noSuchSession(): GauntletError {
  return new GauntletError('not_found', 'There are no sessions here');
}

/** Pools over `tools`, with nothing deferred and no rules. */
export function plainPools(tools: readonly Tool[]): ToolPools {
  const modes = { simpleTools: ['Bash'], hiddenInRepl: ['Read'] };
  return createToolPools(tools, { ...modes, toolSearch: 'auto' });
}

/** No browser signs in. */
const noSignIn: Dependencies['signIn'] = {
  issueTicket: () => {
    throw new GauntletError('not_found', 'There is no console here');
  },
  exchange: () => Promise.resolve(undefined),
  find: () => undefined,
  revoke: () => Promise.resolve(0),
  revokeAll: () => Promise.resolve(0),
};

const noLogin = () => Promise.reject(new GauntletError('not_found', 'There are no MCP servers'));

const noLogins: Dependencies['logins'] = {
  authorize: noLogin,
  reconnect: noLogin,
  finishAuthorization: noLogin,
  logOut: noLogin,
  login: () => Promise.resolve(undefined),
  clientMetadata: () => Promise.resolve(undefined),
  states: () => [],
};

/** Start an app; it is closed after the tests of this file. */
export async function listeningApp(changes: Partial<Omit<Dependencies, 'limits'>> & { limits?: Partial<Limits> } = {}) {
  const limits: Limits = { ...DEFAULT_LIMITS, ...changes.limits };
  const hosts = new Set<string>();
  const pools = plainPools([plainTool('Bash'), plainTool('Read', { aliases: ['FileRead'] })]);
  const app = await buildApp({
    directory: noSessions,
    searchCalls: () => Promise.resolve({ hits: [] }),
    startTrigger: () => Promise.reject(new GauntletError('not_found', 'There are no triggers')),
    newSessionPool: (_principal, toolMode) => pools.pool({ toolMode }, NONE),
    defaultToolMode: 'normal',
    hasRepl: true,
    containment: () => Promise.resolve({ scope: 'reads', reading: 'jail' }),
    logins: noLogins,
    authenticate: createAuthenticator([
      { principal: 'owner', tokenSha256: sha256(TOKEN) },
      { principal: 'other', tokenSha256: sha256(`${TOKEN}-other`) },
    ]),
    principals: ['owner', 'other'],
    limitsOf: () => limits,
    describePrincipal: () => ({ answersTwoPerson: false }),
    hosts,
    origins: new Set(['http://listed.example']),
    tickets: createTickets(),
    signIn: noSignIn,
    consoleFolder: undefined,
    logger: { debug: quiet, info: quiet, warn: quiet, error: loud },
    trustProxy: false,
    readiness: () => 'ready',
    version: '0.0.0',
    skills: { tool: 'Skill', list: [] },
    onToolsChanged: () => () => undefined,
    upstreams: {
      ready: () => Promise.reject(new GauntletError('not_found', 'No MCP server is configured')),
      openOwned: () => Promise.reject(new GauntletError('not_found', 'No MCP server is configured')),
      delegate: () => () => undefined,
      offers: () => [],
      states: () => [],
      recentResources: () => Promise.resolve([]),
      recentTemplates: () => Promise.resolve([]),
      onResourcesChanged: () => () => undefined,
      complete: () => Promise.resolve({ values: [] }),
      subscribe: () => undefined,
      unsubscribe: () => undefined,
      endSubscriptions: () => undefined,
    },
    resourceTool: 'ReadMcpResourceTool',
    preamble: () => undefined,
    ...changes,
    limits,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  for (const host of allowedHosts([], port)) hosts.add(host);
  afterAll(() => app.close());
  return { app, port, url: `http://127.0.0.1:${port}`, hosts };
}

/** Send raw bytes and read until the server ends the connection. */
export function rawExchange(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let reply = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (reply += chunk));
    socket.on('close', () => resolve(reply)).on('error', reject);
  });
}

const NONE: readonly Tool[] = [];

/** A fault of our own is never expected. */
function loud(particulars: unknown, message?: string): void {
  process.stderr.write(`${message ?? ''} ${inspect(particulars)}\n`);
}

function quiet(): void {
  // Tests look at replies, not at logs.
}
