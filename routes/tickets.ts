/**
 * Tickets: credentials for browsers, which cannot send a header with a WebSocket.
 *
 * Valid once, for one session, for a short time. Only digests are stored.
 */
import { createHash, randomBytes } from 'node:crypto';
import { GauntletError } from '../src/base/errors.ts';

/** A ticket as issued. */
export interface IssuedTicket {
  readonly ticket: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** Store of unused tickets. */
export interface Tickets {
  /** @throws {GauntletError} `overloaded` if the principal has too many unused tickets. */
  issue(principal: string, sessionId: string): IssuedTicket;
  /** Use a ticket up. @returns Its principal, or `undefined` if it is unknown, used, expired or for another session. */
  redeem(ticket: string, sessionId: string): string | undefined;
}

/** A ticket lives this long: a page that asked for it connects at once. */
const TICKET_MS = 30_000;

/** Tickets of one principal waiting to be used: one for each socket that may be open. */
const MAX_TICKETS = 2_000;

const TICKET_BYTES = 32;

/** Create the store. `now` is monotonic, in milliseconds: a clock change cannot revive an expired ticket. */
export function createTickets(now: () => number = () => performance.now()): Tickets {
  // Insertion order is expiry order, since all tickets have the same lifetime.
  const unusedTickets = new Map<string, { principal: string; sessionId: string; expires: number }>();

  function dropExpired(): void {
    for (const [digest, { expires }] of unusedTickets) {
      if (expires > now()) return;
      unusedTickets.delete(digest);
    }
  }

  return {
    issue(principal, sessionId) {
      dropExpired();
      const own = [...unusedTickets.values()].filter((ticket) => ticket.principal === principal);
      if (own.length >= MAX_TICKETS) {
        throw new GauntletError('overloaded', 'Cannot issue a ticket: too many are waiting to be used; try again soon');
      }
      const ticket = randomBytes(TICKET_BYTES).toString('base64url');
      unusedTickets.set(digestOf(ticket), { principal, sessionId, expires: now() + TICKET_MS });
      return { ticket, expiresAt: new Date(Date.now() + TICKET_MS).toISOString() };
    },
    redeem(ticket, sessionId) {
      const digest = digestOf(ticket);
      const found = unusedTickets.get(digest);
      unusedTickets.delete(digest);
      return found && found.expires > now() && found.sessionId === sessionId ? found.principal : undefined;
    },
  };
}

function digestOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64');
}
