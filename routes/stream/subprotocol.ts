/**
 * The WebSocket subprotocol, and the ticket that a browser offers with it.
 */

import { SUBPROTOCOL } from '../../src/wire/client-frames.ts';

const TICKET_PREFIX = 'gauntlet.ticket.';

/** Extract the ticket from the offered subprotocols; `undefined` if there is none. */
export function ticketOf(offered: string | undefined): string | undefined {
  const name = offeredProtocols(offered).find((protocol) => protocol.startsWith(TICKET_PREFIX));
  return name?.slice(TICKET_PREFIX.length);
}

/** True if the client offers the subprotocol, or none at all. */
export function isSpoken(offered: string | undefined): boolean {
  return offered === undefined || offeredProtocols(offered).includes(SUBPROTOCOL);
}

function offeredProtocols(offered: string | undefined): readonly string[] {
  return (offered ?? '').split(',').map((protocol) => protocol.trim());
}
