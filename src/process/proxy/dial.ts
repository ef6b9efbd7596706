/**
 * Decides on and makes the proxy's connections: the host is on the list, every address is public or itself on the list,
 * and the connection goes to one of exactly those addresses.
 */
import type { Socket } from 'node:net';
import { type Endpoint, spellEndpoint } from '../../../config/authority.ts';
import { GauntletError } from '../../base/errors.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import { connectChecked } from './checked-connect.ts';
import type { Lookup } from './lookup.ts';
import type { ProxyBounds } from './proxy-bounds.ts';

/** Name of the setting in denials. */
const SETTING = '"sandbox.network.allow"';

/** Dependencies of connecting. */
export interface DialParts {
  readonly allowed: AllowedHosts;
  readonly lookup: Lookup;
  readonly bounds: ProxyBounds;
}

/**
 * Connects to the endpoint that a command requests.
 *
 * @returns A connected socket; the caller handles its errors.
 * @throws {GauntletError} `permission_denied` for an endpoint that is not on the list; `resource_exhausted` if too many
 *   connections are open; `timeout` and `tool_failed` if connecting fails.
 */
export type Dial = (endpoint: Endpoint, signal: AbortSignal) => Promise<Socket>;

/** Create the function, with a count of open connections. */
export function createDial({ allowed, lookup, bounds }: DialParts): Dial {
  let open = 0;

  return async function dial(endpoint, signal) {
    if (!allowed.covers(endpoint.host, endpoint.port)) throw notAllowed(endpoint, 'it is not on the list');
    if (open >= bounds.connections) {
      throw new GauntletError('resource_exhausted', 'Too many connections are open. Close some, or try again later');
    }
    open += 1;
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(bounds.connectMs)]);
    try {
      const socket = await connectChecked(endpoint, { lookup, isListed, refusal: notPublic }, inTime);
      socket.once('close', () => (open -= 1));
      limitConnection(socket, bounds);
      return socket;
    } catch (error) {
      open -= 1;
      throw inTime.aborted
        ? new GauntletError('timeout', `"${spellEndpoint(endpoint)}" did not answer in time`)
        : error;
    }
  };

  function isListed({ port }: Endpoint, address: string): boolean {
    return allowed.covers(address, port);
  }
}

function notPublic(endpoint: Endpoint): GauntletError {
  return notAllowed(endpoint, 'it leads to an address that is neither public nor on the list');
}

function notAllowed(endpoint: Endpoint, why: string): GauntletError {
  return new GauntletError(
    'permission_denied',
    `Cannot reach "${spellEndpoint(endpoint)}" from the sandbox: ${why}, ${SETTING}`,
  );
}

/** Bound a connection that has just been made. */
function limitConnection(socket: Socket, bounds: ProxyBounds): void {
  const end = () => void socket.destroy();
  const endsAtMs = performance.now() + bounds.totalMs;
  // Polled, since the socket counts the bytes anyway; checking at each chunk would cost more.
  const look = setInterval(() => {
    const bytes = socket.bytesRead + socket.bytesWritten;
    if (bytes > bounds.bytes || performance.now() > endsAtMs) end();
  }, bounds.checkMs);
  socket.setTimeout(bounds.idleMs, end);
  socket.once('close', () => clearInterval(look));
}
