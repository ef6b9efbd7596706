/**
 * What every request passes before anything else looks at it: Host, Origin, credential.
 *
 * One hook does it all, for HTTP and for upgrades, for routes that exist and for those that do not:
 * who has no credential learns nothing about routes.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { Socket } from 'node:net';
import { GauntletError } from '../src/base/errors.ts';
import { bearerToken, createRecogniser, type Recognise } from './credential.ts';
import type { Dependencies } from './dependencies.ts';
import type { RequestRates } from './request-rates.ts';
import { ticketOf } from './stream/subprotocol.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; '' on a public route. */
    principal: string;
  }
  interface FastifyContextConfig {
    /** Wants no credential. */
    isPublic?: boolean;
    /** Takes a ticket in place of a token. */
    takesTicket?: boolean;
  }
}

/** Sent with every reply. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** What the guard needs. */
export interface GuardDependencies extends Pick<
  Dependencies,
  'hosts' | 'origins' | 'authenticate' | 'tickets' | 'onBadCredential'
> {
  readonly rates: RequestRates;
  /** Counts a bad credential; false when its address has had too many. */
  mayFail(address: string): boolean;
  /** The socket has shown a good credential. */
  welcome(socket: Socket): void;
  /** The socket is one too many: it is held only to be told so. */
  isRefused(socket: Socket): boolean;
}

/** A check of one request. */
export type Guard = (request: FastifyRequest, reply: FastifyReply) => void;

/** Make the check. @throws {GauntletError} From the returned function: `overloaded`, `forbidden`, `unauthenticated`, `rate_limited`, `invalid_request`. */
export function createGuard(dependencies: GuardDependencies): Guard {
  const recognise = createRecogniser((token) => dependencies.authenticate(token));
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
    const principal = authenticated(request, recognise, dependencies.tickets);
    if (principal === undefined) throw refusal(request.ip, dependencies);
    request.principal = principal;
    if (principal === '') return;
    dependencies.welcome(request.raw.socket);
    // What anybody may ask for tells monitors that the server is alive.
    if (request.routeOptions.config.isPublic !== true) dependencies.rates.count(principal);
  };
}

function tooManyConnections(reply: FastifyReply): GauntletError {
  reply.header('connection', 'close');
  return new GauntletError('overloaded', 'Cannot take another connection: too many are open. Try again soon', {
    details: { reason: 'connections' },
  });
}

function refusal(address: string, { mayFail, onBadCredential }: GuardDependencies): GauntletError {
  if (!mayFail(address)) return new GauntletError('rate_limited', 'Too many bad credentials from this address');
  onBadCredential?.(address);
  return new GauntletError('unauthenticated', 'Send a valid token as "Authorization: Bearer <token>"');
}

/** The same as a Fastify hook. */
export function guardHook(guard: Guard) {
  return function onRequest(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    try {
      guard(request, reply);
      if (!reply.sent) done();
    } catch (error) {
      done(error as Error);
    }
  };
}

/** Exactly one `Host`, on the list, and a target in origin form: an absolute one would name a host of its own. */
function checkHost(request: FastifyRequest, hosts: ReadonlySet<string>): void {
  const { rawHeaders, headers, url } = request.raw;
  const isOne = timesSent(rawHeaders, 'host') === 1;
  if (!isOne || !hosts.has((headers.host ?? '').toLowerCase()) || !url?.startsWith('/')) {
    throw new GauntletError('forbidden', 'This host is not served here: list it in the setting for allowed hosts');
  }
}

/** How often a header was sent; Node keeps the first of some and says nothing of the others. */
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
 * Node hands every request with `Upgrade` to the WebSocket server, which ends the socket only where it
 * upgrades. A body would be taken for frames, so such a request has none.
 */
function checkUpgrade(request: FastifyRequest, reply: FastifyReply): void {
  reply.raw.once('finish', () => request.raw.socket.destroySoon());
  const { headers } = request.raw;
  if (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0') {
    throw new GauntletError('invalid_request', 'Cannot upgrade a request that has a body');
  }
}

/** Node reads chunks and ignores whatever else is said to be done to a body; who stands in between may not. */
function checkTransfer(encoding: string | undefined, reply: FastifyReply): void {
  if (encoding === undefined || encoding.toLowerCase() === 'chunked') return;
  reply.header('connection', 'close');
  throw new GauntletError('invalid_request', 'Cannot read the body: leave out "Transfer-Encoding", or send "chunked"');
}

/** The principal; '' where none is wanted; undefined to refuse. A token in a query is refused even beside a good one. */
function authenticated(
  request: FastifyRequest,
  recognise: Recognise,
  tickets: GuardDependencies['tickets'],
): string | undefined {
  // An address that cannot be routed has neither query nor params.
  const query = request.query as Readonly<Record<string, unknown>> | null;
  if (query?.['token'] !== undefined || query?.['access_token'] !== undefined) return undefined;
  const { headers, rawHeaders } = request.raw;
  // Of two credentials, whoever stands in between may have checked the other.
  if (timesSent(rawHeaders, 'authorization') > 1) return undefined;
  const token = bearerToken(headers.authorization);
  if (token !== undefined) {
    const principal = recognise(request.raw.socket, token);
    if (principal !== undefined) return principal;
  }
  const { isPublic, takesTicket } = request.routeOptions.config;
  if (isPublic === true) return '';
  const ticket = takesTicket === true ? ticketOf(headers['sec-websocket-protocol']) : undefined;
  if (ticket === undefined) return undefined;
  const { id } = request.params as { readonly id: string };
  return tickets.redeem(ticket, id);
}

/** Tell a browser that its listed page may read the reply. */
function allowOrigin(origin: string, reply: FastifyReply, origins: ReadonlySet<string>): void {
  if (!origins.has(origin)) return;
  reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
  reply.header('access-control-expose-headers', 'ETag, Retry-After');
}

/** Whether this is a listed page's question before the request: it carries no credential. */
function isPreflight(request: FastifyRequest, origins: ReadonlySet<string>): boolean {
  const { method, headers } = request.raw;
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  return headers.origin !== undefined && origins.has(headers.origin);
}

/** Answer a preflight, whatever its path: the request itself is judged when it comes. */
function answerPreflight(reply: FastifyReply): void {
  reply
    .code(204)
    .header('access-control-allow-methods', 'GET, POST, DELETE')
    .header('access-control-allow-headers', 'Authorization, Content-Type, If-None-Match, Last-Event-ID')
    .header('access-control-max-age', '600')
    .send();
}
