/**
 * Tickets: how a browser, which cannot send a header with a WebSocket, brings its credential.
 *
 * Single use, for one session, for a short time. Only digests are kept.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Limits } from '../config/limits.ts';
import { GauntletError } from '../src/base/errors.ts';

/** A ticket as it is handed out. */
export interface IssuedTicket {
  readonly ticket: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** Tickets not used yet. */
export interface Tickets {
  /** @throws {GauntletError} `overloaded` when too many wait to be used. */
  issue(principal: string, sessionId: string): IssuedTicket;
  /** Use a ticket up. @returns Its principal, or undefined if it is unknown, used, expired or another session's. */
  redeem(ticket: string, sessionId: string): string | undefined;
}

const TICKET_BYTES = 32;

/** Make a store of tickets. `now` is monotonic, in milliseconds: a clock that jumps revives nothing. */
export function createTickets(
  limits: Pick<Limits, 'ticketMs' | 'tickets'>,
  now: () => number = () => performance.now(),
): Tickets {
  // Insertion order is expiry order, since all tickets live equally long.
  const waiting = new Map<string, { principal: string; sessionId: string; expires: number }>();

  function dropExpired(): void {
    for (const [digest, { expires }] of waiting) {
      if (expires > now()) return;
      waiting.delete(digest);
    }
  }

  return {
    issue(principal, sessionId) {
      dropExpired();
      const own = [...waiting.values()].filter((ticket) => ticket.principal === principal);
      if (own.length >= limits.tickets) {
        throw new GauntletError('overloaded', 'Cannot issue a ticket: too many are waiting to be used; try again soon');
      }
      const ticket = randomBytes(TICKET_BYTES).toString('base64url');
      waiting.set(digestOf(ticket), { principal, sessionId, expires: now() + limits.ticketMs });
      return { ticket, expiresAt: new Date(Date.now() + limits.ticketMs).toISOString() };
    },
    redeem(ticket, sessionId) {
      const digest = digestOf(ticket);
      const found = waiting.get(digest);
      waiting.delete(digest);
      return found && found.expires > now() && found.sessionId === sessionId ? found.principal : undefined;
    },
  };
}

function digestOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64');
}
