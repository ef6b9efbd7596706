/**
 * `POST /tickets`: a browser's way into a WebSocket.
 */
import * as z from 'zod';
import { IdSchema } from '../src/wire/block-schema.ts';
import type { Dependencies } from './dependencies.ts';
import type { App } from './request-schemas.ts';

const Wanted = z.strictObject({ session_id: IdSchema });

/** The door that issues tickets, for one's own sessions. */
export function ticketsDoor(app: App, { directory, tickets }: Dependencies): void {
  const config = { summary: 'A ticket for a WebSocket, single use', reply: { json: 'Ticket' } } as const;
  app.post('/tickets', { schema: { body: Wanted }, config }, async (request) => {
    const { session_id: sessionId } = request.body;
    await directory.open(request.principal, sessionId);
    const { ticket, expiresAt } = tickets.issue(request.principal, sessionId);
    return { ticket, expires_at: expiresAt };
  });
}
