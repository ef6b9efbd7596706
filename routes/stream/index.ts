/**
 * `GET /sessions/{id}/stream`: the WebSocket channel. Whatever could refuse a client does so in the upgrade.
 */
import fastifyWebsocket from '@fastify/websocket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GauntletError } from '../../src/contract/errors.ts';
import type { Session } from '../../src/session/session.ts';
import type { DoorContext } from '../dependencies.ts';
import { sessionFinder } from '../sessions/index.ts';
import { clientFrameReader } from './client-frame.ts';
import { CLOSE } from './close-codes.ts';
import { Connection } from './connection.ts';
import { isSpoken, SUBPROTOCOL } from './subprotocol.ts';

/** The door of streams, in a scope of its own: the plugin's hooks cost other routes nothing. */
export function streamDoor(app: FastifyInstance, context: DoorContext): void {
  const { limits, logger, readiness, rates, limitsOf } = context;
  const sessionOf = sessionFinder(context);
  const readFrame = clientFrameReader(limits);
  /** With the principal of each. */
  const connections = new Map<Connection, string>();
  const admitted = new WeakMap<FastifyRequest, Session>();

  function hasTooMany(principal: string): boolean {
    const most = limitsOf(principal).streams;
    return most > 0 && [...connections.values()].filter((each) => each === principal).length >= most;
  }

  async function admit(request: FastifyRequest): Promise<void> {
    if (!request.ws)
      throw new GauntletError('invalid_request', 'Cannot stream over plain HTTP: open it as a WebSocket');
    if (!isSpoken(request.headers['sec-websocket-protocol'])) {
      throw new GauntletError('invalid_request', `Cannot speak this subprotocol: offer "${SUBPROTOCOL}"`);
    }
    admitted.set(request, await sessionOf(request));
    if (!hasTooMany(request.principal)) return;
    const details = { reason: 'streams' };
    throw new GauntletError('rate_limited', 'Cannot open another WebSocket: close one first', { details });
  }

  app.register(async (scope) => {
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
      config: { takesTicket: true, summary: 'The WebSocket channel' },
      preValidation: admit,
      // `admit` refuses whatever is no upgrade.
      handler: (_request, reply) => reply,
      wsHandler: (socket, request) => {
        const session = admitted.get(request);
        if (session === undefined) throw new TypeError('A stream was opened without a session');
        const { principal, raw } = request;
        // Others may have been let in at the same time.
        if (hasTooMany(principal)) return socket.close(CLOSE.tooFast, 'streams');
        const services = { limits, logger, readiness, rates, readFrame, principal, wire: raw.socket };
        const connection = new Connection(socket, session, services);
        connections.set(connection, principal);
        socket.once('close', () => connections.delete(connection));
      },
    });
  });
}
