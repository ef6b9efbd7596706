/**
 * `GET /sessions/{id}/stream`: the WebSocket channel. Whatever could refuse a client does so in the upgrade.
 */
import fastifyWebsocket from '@fastify/websocket';
import type { FastifyRequest } from 'fastify';
import { GauntletError } from '../../src/base/errors.ts';
import type { Session } from '../../src/session/session.ts';
import type { DoorContext } from '../dependencies.ts';
import { type App, SessionAddress, type ZodTypes } from '../request-schemas.ts';
import { sessionFinder, type SessionRequest } from '../sessions/index.ts';
import { clientFrameReader } from './client-frame.ts';
import { CLOSE } from './close-codes.ts';
import { Connection } from './connection.ts';
import { isSpoken, SUBPROTOCOL } from './subprotocol.ts';

/** The door of streams, in a scope of its own: the plugin's hooks cost other routes nothing. */
export function streamDoor(app: App, context: DoorContext): void {
  const { limits, logger, readiness, rates } = context;
  const readFrame = clientFrameReader(limits);
  /** With the principal of each. */
  const connections = new Map<Connection, string>();
  const { admit, sessionOf, hasTooMany } = createAdmission(context, () => connections.values());

  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypes>();
    await scope.register(fastifyWebsocket, {
      options: {
        maxPayload: limits.webSocketMessageBytes,
        perMessageDeflate: false,
        // Answered by the connection, which counts them.
        autoPong: false,
        handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
      },
      // A broken frame is the client's; ws closes with the code that says so.
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
      config: { takesTicket: true, summary: 'The WebSocket channel', reply: { statuses: [101] } },
      preHandler: admit,
      // `admit` refuses whatever is no upgrade.
      handler: (_request, reply) => reply,
      wsHandler: (socket, request) => {
        const { principal, raw } = request;
        // Others may have been let in at the same time.
        if (hasTooMany(principal)) return socket.close(CLOSE.tooFast, 'streams');
        const services = { limits, logger, readiness, rates, readFrame, principal, wire: raw.socket };
        const connection = new Connection(socket, sessionOf(request), services);
        connections.set(connection, principal);
        socket.once('close', () => connections.delete(connection));
      },
    });
  });
}

/** The parts of an upgrade request that admission reads. */
type Upgrade = SessionRequest & Pick<FastifyRequest, 'ws' | 'headers'>;

/** Lets clients in. */
interface Admission {
  /** Look at an upgrade. @throws {GauntletError} `invalid_request`, `not_found`, `rate_limited` */
  admit(request: Upgrade): Promise<void>;
  /** The session of a request that was let in. */
  sessionOf(request: Upgrade): Session;
  /** Whether a principal has as many WebSockets open as it may. */
  hasTooMany(principal: string): boolean;
}

/** Make it. @param principals Of the WebSockets that are open. */
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
