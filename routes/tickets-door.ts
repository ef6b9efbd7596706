/**
 * `POST /tickets`: issues tickets with which a browser opens a WebSocket.
 */
import * as z from 'zod';
import { IdSchema } from '../src/wire/block-schema.ts';
import type { Dependencies } from './dependencies.ts';
import type { App } from './request-schemas.ts';

const TicketRequest = z.strictObject({ session_id: IdSchema });

/** Register the route that issues tickets for the principal's own sessions. */
export function ticketsDoor(app: App, { directory, tickets }: Dependencies): void {
  const config = { summary: 'A ticket for a WebSocket, single use', reply: { json: 'Ticket' } } as const;
  app.post('/tickets', { schema: { body: TicketRequest }, config }, async (request) => {
    const { session_id: sessionId } = request.body;
    await directory.open(request.principal, sessionId);
    const { principal, credential } = request;
    const { ticket, expiresAt } = tickets.issue({ principal, ...(credential && { credential }) }, sessionId);
    return { ticket, expires_at: expiresAt };
  });
}
