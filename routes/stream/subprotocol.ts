/**
 * The WebSocket subprotocol, and the ticket that a browser offers beside it.
 */

/** The one subprotocol spoken. */
export const SUBPROTOCOL = 'gauntlet.v1';

const TICKET_PREFIX = 'gauntlet.ticket.';

/** The ticket among the offered subprotocols, if any. */
export function ticketOf(offered: string | undefined): string | undefined {
  const name = offeredProtocols(offered).find((protocol) => protocol.startsWith(TICKET_PREFIX));
  return name?.slice(TICKET_PREFIX.length);
}

/** Whether a client can be spoken to: it offers the subprotocol, or none at all. */
export function isSpoken(offered: string | undefined): boolean {
  return offered === undefined || offeredProtocols(offered).includes(SUBPROTOCOL);
}

function offeredProtocols(offered: string | undefined): readonly string[] {
  return (offered ?? '').split(',').map((protocol) => protocol.trim());
}
