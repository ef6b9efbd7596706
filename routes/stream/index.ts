/**
 * `GET /sessions/{id}/stream`: the WebSocket channel. Whatever could refuse a client does so in the upgrade.
 */
import fastifyWebsocket from '@fastify/websocket';
import type { DoorContext } from '../dependencies.ts';
import { type App, SessionAddress, type ZodTypes } from '../request-schemas.ts';
import { createAdmission } from './admission.ts';
import { clientFrameReader } from './client-frame.ts';
import { CLOSE } from './close-codes.ts';
import { Connection } from './connection.ts';
import { SUBPROTOCOL } from './subprotocol.ts';

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
