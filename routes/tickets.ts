/**
 * Tickets: credentials for what cannot send a header: a browser's WebSocket, and the address of the console.
 *
 * Valid once, for one purpose, for a short time. Only digests are stored.
 */
import { createHash, randomBytes } from 'node:crypto';
import { GauntletError } from '../src/base/errors.ts';
import type { Caller } from './caller.ts';

/** A ticket as issued. */
export interface IssuedTicket {
  readonly ticket: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** Store of unused tickets. */
export interface Tickets {
  /**
   * @param purpose What it is good for: the id of a session.
   * @throws {GauntletError} `overloaded` if the principal has too many unused tickets.
   */
  issue(holder: Caller, purpose: string): IssuedTicket;
  /** Use a ticket up. @returns Its holder, or `undefined` if it is unknown, used, expired or for another purpose. */
  redeem(ticket: string, purpose: string): Caller | undefined;
  /** Drop the tickets of a principal that wait to be used. */
  withdraw(principal: string): void;
}

interface TicketBounds {
  readonly lifeMs: number;
  /** Tickets of one principal waiting to be used. */
  readonly waiting: number;
}

/** A page that asks for a ticket connects at once; a principal has one for each socket that may be open. */
const SOCKET_BOUNDS: TicketBounds = { lifeMs: 30_000, waiting: 2_000 };

const TICKET_BYTES = 32;

/** Create the store. `now` is monotonic, in milliseconds: a clock change cannot revive an expired ticket. */
export function createTickets(
  now: () => number = () => performance.now(),
  { lifeMs, waiting }: TicketBounds = SOCKET_BOUNDS,
): Tickets {
  // Insertion order is expiry order, since all tickets have the same lifetime.
  const unusedTickets = new Map<string, { holder: Caller; purpose: string; expires: number }>();

  function dropExpired(): void {
    for (const [digest, { expires }] of unusedTickets) {
      if (expires > now()) return;
      unusedTickets.delete(digest);
    }
  }

  return {
    issue(holder, purpose) {
      dropExpired();
      const own = [...unusedTickets.values()].filter((ticket) => ticket.holder.principal === holder.principal);
      if (own.length >= waiting) {
        throw new GauntletError('overloaded', 'Cannot issue a ticket: too many are waiting to be used; try again soon');
      }
      const ticket = randomBytes(TICKET_BYTES).toString('base64url');
      unusedTickets.set(digestOf(ticket), { holder, purpose, expires: now() + lifeMs });
      return { ticket, expiresAt: new Date(Date.now() + lifeMs).toISOString() };
    },
    redeem(ticket, purpose) {
      const digest = digestOf(ticket);
      const found = unusedTickets.get(digest);
      unusedTickets.delete(digest);
      if (found === undefined || found.expires <= now() || found.purpose !== purpose) return undefined;
      return found.holder.credential?.hasEnded === true ? undefined : found.holder;
    },
    withdraw(principal) {
      for (const [digest, { holder }] of unusedTickets)
        if (holder.principal === principal) unusedTickets.delete(digest);
    },
  };
}

function digestOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64');
}
