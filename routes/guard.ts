/**
 * Checks every request before anything else: Host, Origin, credential.
 *
 * One hook covers HTTP and upgrades, existing and unknown routes: clients without a credential learn nothing about
 * routes.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { Socket } from 'node:net';
import { GauntletError } from '../src/base/errors.ts';
import type { AddressLimit } from './address-limit.ts';
import type { Caller, ConsoleCredential } from './caller.ts';
import { bearerToken, createCachedAuthenticator, type AuthenticateSocket } from './credential.ts';
import type { Dependencies } from './dependencies.ts';
import type { RequestRates } from './request-rates.ts';
import { isSigned } from './signed-token.ts';
import { ticketOf } from './stream/subprotocol.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated principal; '' on a public route. */
    principal: string;
    /** The console's credential, if one was sent in place of the principal's token. */
    credential: ConsoleCredential | undefined;
    /** Milliseconds since 1970 at which the signed token expires that was sent, if it was one. */
    tokenEndsMs: number | undefined;
  }
  interface FastifyContextConfig {
    /** True if the route needs no credential. */
    isPublic?: boolean;
    /** True if the route accepts a ticket instead of a token. */
    takesTicket?: boolean;
  }
}

/** Sent with every reply. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Dependencies of the guard. */
export interface GuardDependencies extends Pick<
  Dependencies,
  'hosts' | 'origins' | 'authenticate' | 'signedTokens' | 'signIn' | 'tickets' | 'onBadCredential'
> {
  readonly rates: RequestRates;
  /** Counts a bad credential; false if its address has exceeded the limit. */
  readonly countBadCredential: AddressLimit;
  /** Called when the socket has sent a valid credential. */
  onAuthenticated(socket: Socket): void;
  /** Returns true if the socket is beyond the connection limit, and held only for a reply. */
  isRefused(socket: Socket): boolean;
}

/** Checks one request; a signed token takes a while. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => void | Promise<void>;

/**
 * Create the guard.
 *
 * @throws {GauntletError} From the returned function: `overloaded`, `forbidden`, `unauthenticated`, `rate_limited`,
 *   `invalid_request`.
 */
export function createGuard(dependencies: GuardDependencies): Guard {
  const authenticateSocket = createCachedAuthenticator((token) => dependencies.authenticate(token));
  const { signedTokens } = dependencies;

  function admit(request: FastifyRequest, reply: FastifyReply, caller: Caller | undefined): void {
    if (caller === undefined) throw refusal(request.ip, dependencies);
    const { principal, credential, tokenEndsMs } = caller;
    request.principal = principal;
    request.credential = credential;
    request.tokenEndsMs = tokenEndsMs;
    if (principal === '') return;
    const isUpgrade = request.raw.headers.upgrade !== undefined;
    credential?.attach(isUpgrade ? request.raw.socket : reply.raw);
    dependencies.onAuthenticated(request.raw.socket);
    // Public routes serve monitors, so they are not rate limited.
    if (request.routeOptions.config.isPublic !== true) dependencies.rates.count(principal);
  }

  return function guard(request, reply) {
    reply.headers(SECURITY_HEADERS);
    const { headers } = request.raw;
    if (headers.upgrade !== undefined) checkUpgrade(request, reply);
    if (dependencies.isRefused(request.raw.socket)) throw tooManyConnections(reply);
    checkTransfer(headers['transfer-encoding'], reply);
    checkHost(request, dependencies.hosts);
    if (headers.origin !== undefined) {
      checkOrigin(headers.origin, headers.host ?? '', dependencies.origins);
      allowOrigin(headers.origin, reply, dependencies.origins);
    }
    if (isPreflight(request, dependencies.origins)) return answerPreflight(reply);
    const caller = authenticated(request, authenticateSocket, dependencies);
    const signed = caller === undefined && signedTokens !== undefined ? soleToken(request) : undefined;
    if (signed === undefined || signedTokens === undefined || !isSigned(signed)) return admit(request, reply, caller);
    const [path = ''] = (request.raw.url ?? '').split('?');
    return signedTokens(signed, path).then((signer) => admit(request, reply, signer));
  };
}

function tooManyConnections(reply: FastifyReply): GauntletError {
  reply.header('connection', 'close');
  return new GauntletError('overloaded', 'Cannot take another connection: too many are open. Try again soon', {
    details: { reason: 'connections' },
  });
}

function refusal(address: string, { countBadCredential, onBadCredential }: GuardDependencies): GauntletError {
  if (!countBadCredential(address))
    return new GauntletError('rate_limited', 'Too many bad credentials from this address');
  onBadCredential?.(address);
  return new GauntletError('unauthenticated', 'Send a valid token as "Authorization: Bearer <token>"');
}

/** Wrap the guard as a Fastify hook. */
export function guardHook(guard: Guard) {
  return function onRequest(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    try {
      const checking = guard(request, reply);
      if (checking !== undefined) checking.then(() => done(), done);
      else if (!reply.sent) done();
    } catch (error) {
      done(error as Error);
    }
  };
}

/** Require exactly one `Host`, on the list, and a target in origin form: an absolute one would name another host. */
function checkHost(request: FastifyRequest, hosts: ReadonlySet<string>): void {
  const { rawHeaders, headers, url } = request.raw;
  const isOne = timesSent(rawHeaders, 'host') === 1;
  if (!isOne || !hosts.has((headers.host ?? '').toLowerCase()) || !url?.startsWith('/')) {
    throw new GauntletError('forbidden', 'This host is not served here: list it in the setting for allowed hosts');
  }
}

/** Count how often a header was sent; for some headers Node keeps the first and drops the others silently. */
function timesSent(rawHeaders: readonly string[], header: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === header.length && name.toLowerCase() === header) count += 1;
  }
  return count;
}

function checkOrigin(origin: string, host: string, origins: ReadonlySet<string>): void {
  const isOwn = origin === `http://${host}` || origin === `https://${host}`;
  if (!isOwn && !origins.has(origin)) {
    throw new GauntletError('forbidden', 'This origin is not allowed: list it in the setting for allowed origins');
  }
}

/**
 * Node passes every request with `Upgrade` to the WebSocket server, which closes the socket only if it upgrades. A body
 * would be read as frames, so it is rejected.
 */
function checkUpgrade(request: FastifyRequest, reply: FastifyReply): void {
  reply.raw.once('finish', () => request.raw.socket.destroySoon());
  const { headers } = request.raw;
  if (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0') {
    throw new GauntletError('invalid_request', 'Cannot upgrade a request that has a body');
  }
}

/** Node decodes chunks and ignores other transfer codings; an intermediary may interpret them differently. */
function checkTransfer(encoding: string | undefined, reply: FastifyReply): void {
  if (encoding === undefined || encoding.toLowerCase() === 'chunked') return;
  reply.header('connection', 'close');
  throw new GauntletError('invalid_request', 'Cannot read the body: leave out "Transfer-Encoding", or send "chunked"');
}

/** Sender of a request to a public route. */
const ANYBODY: Caller = { principal: '' };

/** Return the sender; `undefined` to reject. A token in the query is rejected even with a valid header. */
function authenticated(
  request: FastifyRequest,
  authenticateSocket: AuthenticateSocket,
  { signIn, tickets }: Pick<GuardDependencies, 'signIn' | 'tickets'>,
): Caller | undefined {
  if (!mayAuthenticate(request)) return undefined;
  const { headers } = request.raw;
  const token = bearerToken(headers.authorization);
  if (token !== undefined) {
    const principal = authenticateSocket(request.raw.socket, token);
    if (principal !== undefined) return { principal };
    const credential = signIn.find(token);
    if (credential !== undefined) return { principal: credential.principal, credential };
  }
  const { isPublic, takesTicket } = request.routeOptions.config;
  if (isPublic === true) return ANYBODY;
  const ticket = takesTicket === true ? ticketOf(headers['sec-websocket-protocol']) : undefined;
  if (ticket === undefined) return undefined;
  const { id } = request.params as { readonly id: string };
  return tickets.redeem(ticket, id);
}

/** Return the token of a request; undefined if there is none that may count. */
function soleToken(request: FastifyRequest): string | undefined {
  return mayAuthenticate(request) ? bearerToken(request.raw.headers.authorization) : undefined;
}

function mayAuthenticate(request: FastifyRequest): boolean {
  // A malformed address has neither query nor params.
  const query = request.query as Readonly<Record<string, unknown>> | null;
  if (query?.['token'] !== undefined || query?.['access_token'] !== undefined) return false;
  // With two headers, an intermediary may have checked the other one.
  return timesSent(request.raw.rawHeaders, 'authorization') <= 1;
}

/** Allow a page of a listed origin to read the reply. */
function allowOrigin(origin: string, reply: FastifyReply, origins: ReadonlySet<string>): void {
  if (!origins.has(origin)) return;
  reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
  reply.header('access-control-expose-headers', 'ETag, Retry-After, WWW-Authenticate, Mcp-Session-Id');
}

/** True for the preflight of a listed origin, which carries no credential. */
function isPreflight(request: FastifyRequest, origins: ReadonlySet<string>): boolean {
  const { method, headers } = request.raw;
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  return headers.origin !== undefined && origins.has(headers.origin);
}

/** Headers that a page may send; those that begin with `Mcp-` are of MCP clients. */
const ALLOWED_HEADERS =
  'Authorization, Content-Type, If-None-Match, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name';

/** Answer a preflight for any path: the request itself is checked when it comes. */
function answerPreflight(reply: FastifyReply): void {
  reply
    .code(204)
    .header('access-control-allow-methods', 'GET, POST, PATCH, DELETE')
    .header('access-control-allow-headers', ALLOWED_HEADERS)
    .header('access-control-max-age', '600')
    .send();
}
