/**
 * Builds the Fastify app: server options, guard, error handling and routes.
 */
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { GauntletError } from '../src/base/errors.ts';
import { parseSafeJson } from '../src/base/json.ts';
import { MAX_PATH_CHARS } from '../src/wire/permission-schemas.ts';
import { openApiDoor } from './api/openapi.ts';
import { createAddressLimit } from './address-limit.ts';
import { onClientError, onExpectation, refuseSlow } from './client-error.ts';
import { capConnections } from './connection-cap.ts';
import { consoleFilesDoor } from './console/files.ts';
import { consoleDoor } from './console/index.ts';
import type { Dependencies } from './dependencies.ts';
import { docsDoor } from './docs.ts';
import { sendError, toWireError } from './error-reply.ts';
import { executeDoor } from './execute/index.ts';
import { createGuard, type GuardDependencies, guardHook } from './guard.ts';
import { mcpServersDoor } from './mcp-servers.ts';
import { oauthCallbackDoor } from './oauth-callback.ts';
import { mcpDoor } from './mcp/index.ts';
import { createRequestRates } from './request-rates.ts';
import { type App, checkRequests } from './request-schemas.ts';
import { changesDoor } from './sessions/changes.ts';
import { eventsDoor } from './sessions/events.ts';
import { principalsDoor } from './principals.ts';
import { searchDoor } from './search.ts';
import { exportDoor } from './sessions/export.ts';
import { sessionFeedDoor } from './sessions/feed.ts';
import { sessionsDoor } from './sessions/index.ts';
import { permissionsDoor } from './sessions/permissions.ts';
import { storedDoor } from './sessions/stored.ts';
import { tasksDoor } from './sessions/tasks.ts';
import { statusDoor } from './status.ts';
import { streamDoor } from './stream/index.ts';
import { ticketsDoor } from './tickets-door.ts';
import { toolsDoor } from './tools.ts';
import { triggersDoor } from './triggers.ts';
import { watchUnauthenticated } from './unauthenticated.ts';

/** Time for the headers of a request; then the request is refused. */
const HEADERS_TIMEOUT_MS = 10_000;

/** Interval at which the times of a request are checked; shorter where `bodyTimeoutMs` is short. */
const REQUEST_CHECK_MS = 500;

/** Bad credentials that one address may send at once, and those by which that burst is refilled; more get 429. */
const BAD_CREDENTIAL_BURST = 2_000;
const BAD_CREDENTIALS_PER_SECOND = 100;

/** Each run of blanks belongs to one thing: two that could share it would take its square. */
const JSON_TYPE = /^application\/json(?:[\t ]*;[\t ]*charset="?utf-8"?)?(?:[\t ]*;)?[\t ]*$/i;

/**
 * Build the app; the caller listens and closes.
 *
 * Logging does not use Fastify's: a child logger for each request costs more than a call that does nothing.
 */
export async function buildApp(dependencies: Dependencies): Promise<App> {
  const rates = createRequestRates((principal) => dependencies.limitsOf(principal));
  const countBadCredential = createAddressLimit(BAD_CREDENTIAL_BURST, BAD_CREDENTIALS_PER_SECOND);
  let onAuthenticated: GuardDependencies['onAuthenticated'] = () => undefined;
  let isRefused: GuardDependencies['isRefused'] = () => false;
  const guard = createGuard({
    ...dependencies,
    rates,
    countBadCredential,
    onAuthenticated: (socket) => onAuthenticated(socket),
    isRefused: (socket) => isRefused(socket),
  });
  const onError = errorHandler(dependencies);
  const app: App = fastify({
    ...serverOptions(dependencies),
    // Malformed addresses skip all hooks, so the guard runs here.
    frameworkErrors: (error, request, reply) =>
      guardHook(guard)(request, reply, (refusal) => onError(refusal ?? error, request, reply)),
  });
  isRefused = capConnections(app.server, dependencies.limits);
  app.server.on('checkExpectation', onExpectation);
  onAuthenticated = watchUnauthenticated(app.server, dependencies.limits, isRefused, refuseSlow);
  app.decorateRequest('principal', '');
  app.decorateRequest('credential', undefined);
  app.decorateRequest('tokenEndsMs', undefined);
  app.addHook('onRequest', guardHook(guard));
  app.setErrorHandler(onError);
  app.setNotFoundHandler((request, reply) =>
    onError(new GauntletError('not_found', 'There is nothing at this address'), request, reply),
  );
  acceptJsonBodies(app);
  checkRequests(app);

  openApiDoor(app, dependencies);
  const closing = new AbortController();
  const context = { ...dependencies, closing: closing.signal, rates, countBadCredential, onAuthenticated };
  for (const door of DOORS) door(app, context);
  docsDoor(app);
  app.addHook('preClose', (done) => {
    closing.abort();
    // A socket that has sent nothing yet counts as busy, and would keep the server open for ever.
    const timer = setTimeout(() => app.server.closeAllConnections(), dependencies.limits.killGraceMs);
    app.server.once('close', () => clearTimeout(timer));
    done();
  });
  await app.ready();
  return app;
}

const DOORS = [
  toolsDoor,
  executeDoor,
  sessionsDoor,
  sessionFeedDoor,
  searchDoor,
  exportDoor,
  principalsDoor,
  permissionsDoor,
  eventsDoor,
  changesDoor,
  storedDoor,
  tasksDoor,
  triggersDoor,
  ticketsDoor,
  oauthCallbackDoor,
  mcpServersDoor,
  streamDoor,
  statusDoor,
  mcpDoor,
  consoleDoor,
  consoleFilesDoor,
];

function serverOptions({ limits, trustProxy }: Dependencies) {
  const series = randomBytes(4).toString('hex');
  let count = 0;
  const checkMs = Math.min(REQUEST_CHECK_MS, Math.ceil(limits.bodyTimeoutMs / 6));
  return {
    bodyLimit: limits.bodyBytes,
    // Zod checks requests and replies are text already: Fastify's own compilers would only make the start longer.
    schemaController: { compilersFactory: { buildValidator: refuseToCompile, buildSerializer: refuseToCompile } },
    // Node checks at intervals; one interval is taken off so that the sum is the limit.
    requestTimeout: Math.max(1, limits.bodyTimeoutMs - checkMs),
    http: {
      // Node applies the larger of the two timeouts to the whole request.
      headersTimeout: Math.max(1, Math.min(HEADERS_TIMEOUT_MS, limits.bodyTimeoutMs) - checkMs),
      connectionsCheckingInterval: checkMs,
      // The guard rejects a missing Host with our own error.
      requireHostHeader: false,
    },
    clientErrorHandler: onClientError,
    genReqId: () => `${series}-${(count += 1)}`,
    trustProxy: typeof trustProxy === 'boolean' ? trustProxy : [...trustProxy],
    // While the server closes, requests on open connections still reach the routes, which answer with our own errors.
    return503OnClosing: false,
    forceCloseConnections: 'idle' as const,
    routerOptions: { maxParamLength: MAX_PATH_CHARS },
  };
}

function refuseToCompile(): never {
  throw new TypeError('A route has a schema that is not checked by Zod');
}

function errorHandler({ logger }: Dependencies) {
  return function onError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    // The client is gone; the work it started continues.
    if (reply.raw.destroyed) return;
    if (toWireError(error).code === 'internal') {
      logger.error({ err: error, request_id: request.id, route: request.routeOptions.url }, 'A request failed');
    }
    sendError(error, request, reply);
  };
}

/** Accept JSON bodies only. */
function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer, done) => {
    try {
      checkEncoding(request.headers['content-encoding']);
      done(null, parseBody(request.headers['content-type'] ?? '', body));
    } catch (error) {
      done(error as Error);
    }
  });
}

function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding === 'identity') return;
  throw new GauntletError('unsupported_media_type', 'Cannot read the body: send it without a "Content-Encoding"');
}

function parseBody(contentType: string, body: Buffer): unknown {
  if (contentType !== 'application/json' && !JSON_TYPE.test(contentType)) {
    throw new GauntletError('unsupported_media_type', 'Cannot read the body: send it as "application/json" in UTF-8');
  }
  // Some clients send the content type with an empty DELETE too.
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new GauntletError('invalid_request', 'Cannot read the body: it is not valid UTF-8');
  return parseSafeJson(body.toString('utf8'), 'the body');
}
