/**
 * `GET /sessions/{id}/stream`: the WebSocket channel. Clients are rejected during the upgrade, where possible.
 */
import fastifyWebsocket from '@fastify/websocket';
import type { FastifyRequest } from 'fastify';
import { GauntletError } from '../../src/base/errors.ts';
import { traceOrigin } from '../../src/base/tracing.ts';
import type { Session } from '../../src/session/session.ts';
import { SUBPROTOCOL } from '../../src/wire/client-frames.ts';
import type { DoorContext } from '../dependencies.ts';
import { type App, SessionAddress, type ZodTypes } from '../request-schemas.ts';
import { sessionFinder, type SessionRequest } from '../sessions/index.ts';
import { CLOSE } from './close-codes.ts';
import { Connection } from './connection.ts';
import { isSpoken } from './subprotocol.ts';

const SUMMARY = 'The WebSocket channel: takes frames of `ClientFrame`, sends those of `Frame` and `ControlFrame`';

/** Register the route of streams, in a scope of its own, so that the plugin's hooks do not slow down other routes. */
export function streamDoor(app: App, context: DoorContext): void {
  const { limits, logger, readiness, rates } = context;
  /** Open connections with their principals. */
  const connections = new Map<Connection, string>();
  const { admit, sessionOf, hasTooMany } = createAdmission(context, () => connections.values());

  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypes>();
    await scope.register(fastifyWebsocket, {
      options: {
        maxPayload: limits.webSocketMessageBytes,
        perMessageDeflate: false,
        // The connection answers pings itself, to count them.
        autoPong: false,
        handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
      },
      // The client sent a broken frame; ws closes with the code for it.
      errorHandler: (error) => logger.debug({ err: error }, 'A WebSocket failed'),
      preClose: (done) => {
        void Promise.all([...connections.keys()].map((connection) => connection.leave())).then(() => {
          scope.websocketServer.close();
          done();
        });
      },
    });
    scope.route({
      method: 'GET',
      url: '/sessions/:id/stream',
      exposeHeadRoute: false,
      schema: { params: SessionAddress },
      config: { takesTicket: true, summary: SUMMARY, reply: { statuses: [101] } },
      preHandler: admit,
      // `admit` rejects everything that is not an upgrade.
      handler: (_request, reply) => reply,
      wsHandler: (socket, request) => {
        const { principal, raw } = request;
        // Other upgrades may have been admitted at the same time.
        if (hasTooMany(principal)) return socket.close(CLOSE.tooFast, 'streams');
        const services = {
          limits,
          logger,
          readiness,
          rates,
          principal,
          wire: raw.socket,
          trace: traceOrigin(raw.headers, 'link'),
        };
        const connection = new Connection(socket, sessionOf(request), services);
        connections.set(connection, principal);
        socket.once('close', () => connections.delete(connection));
      },
    });
  });
}

/** Members of an upgrade request that admission reads. */
type Upgrade = SessionRequest & Pick<FastifyRequest, 'ws' | 'headers'>;

/** Decides which clients may connect. */
interface Admission {
  /** Check an upgrade. @throws {GauntletError} `invalid_request`, `not_found`, `rate_limited` */
  admit(request: Upgrade): Promise<void>;
  /** Return the session of an admitted request. */
  sessionOf(request: Upgrade): Session;
  /** True if a principal has reached its limit of WebSockets. */
  hasTooMany(principal: string): boolean;
}

/** Create the admission. @param principals Returns the principals of the open WebSockets. */
function createAdmission(context: DoorContext, principals: () => Iterable<string>): Admission {
  const find = sessionFinder(context);
  const admitted = new WeakMap<Upgrade, Session>();

  function hasTooMany(principal: string): boolean {
    const most = context.limitsOf(principal).streams;
    return most > 0 && [...principals()].filter((each) => each === principal).length >= most;
  }

  return {
    hasTooMany,
    async admit(request) {
      if (!request.ws)
        throw new GauntletError('invalid_request', 'Cannot stream over plain HTTP: open it as a WebSocket');
      if (!isSpoken(request.headers['sec-websocket-protocol'])) {
        throw new GauntletError('invalid_request', `Cannot speak this subprotocol: offer "${SUBPROTOCOL}"`);
      }
      admitted.set(request, await find(request));
      if (!hasTooMany(request.principal)) return;
      const details = { reason: 'streams' };
      throw new GauntletError('rate_limited', 'Cannot open another WebSocket: close one first', { details });
    },
    sessionOf(request) {
      const session = admitted.get(request);
      if (session === undefined) throw new TypeError('A stream was opened without a session');
      return session;
    },
  };
}
