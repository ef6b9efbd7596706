/**
 * `POST /tickets`: a browser's way into a WebSocket.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { IdSchema } from '../src/session/feed/block-schema.ts';
import type { Dependencies } from './dependencies.ts';
import { parseRequest } from './parse-request.ts';

const Wanted = z.object({ session_id: IdSchema });

/** The door that issues tickets, for one's own sessions. */
export function ticketsDoor(app: FastifyInstance, { directory, tickets, limits }: Dependencies): void {
  const config = { summary: 'A ticket for a WebSocket, single use', body: Wanted, reply: { json: 'Ticket' } } as const;
  app.post('/tickets', { config }, async (request) => {
    const { session_id: sessionId } = parseRequest(Wanted, request.body, 'the body', limits);
    await directory.open(request.principal, sessionId);
    const { ticket, expiresAt } = tickets.issue(request.principal, sessionId);
    return { ticket, expires_at: expiresAt };
  });
}
