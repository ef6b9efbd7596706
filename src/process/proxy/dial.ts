/**
 * Decides on and makes the proxy's connections: the host is on the list, every address is public or itself on the list,
 * and the connection goes to one of exactly those addresses.
 */
import ipaddr from 'ipaddr.js';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { canonicalAddress, type Endpoint, spellEndpoint } from '../../../config/authority.ts';
import { errorMessage, GauntletError } from '../../base/errors.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import type { Lookup } from './lookup.ts';
import type { ProxyBounds } from './proxy-bounds.ts';

/** Metadata service of a cloud, at an address that is registered as public. */
const METADATA_ADDRESS = '168.63.129.16';

/** The only IPv6 range assigned for public use; ipaddr.js classifies unassigned ones as unicast too. */
const ASSIGNED_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

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
      const socket = await connectTo(endpoint, await addressesOf(endpoint, inTime), inTime);
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

  async function addressesOf(endpoint: Endpoint, inTime: AbortSignal): Promise<Addresses> {
    const { host, port } = endpoint;
    // The list contains the address literally.
    if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
    const addresses = await lookup(host, inTime).catch((cause: unknown) => {
      throw new GauntletError('tool_failed', `Cannot find "${host}": ${errorMessage(cause)}`, { cause });
    });
    // One address that is not permitted disqualifies all: the client could be connected to that one next.
    const areAllPermitted = addresses.every(
      ({ address }) => isPublicAddress(address) || isListedAddress(address, port),
    );
    if (addresses.length === 0 || !areAllPermitted)
      throw notAllowed(endpoint, 'it leads to an address that is neither public nor on the list');
    return addresses;
  }

  function isListedAddress(address: string, port: number): boolean {
    return allowed.covers(canonicalAddress(address) ?? '', port);
  }
}

type Addresses = Awaited<ReturnType<Lookup>>;

async function connectTo(endpoint: Endpoint, addresses: Addresses, inTime: AbortSignal): Promise<Socket> {
  const { host, port } = endpoint;
  const socket = connect({
    host,
    port,
    // The name is not resolved again, since a second answer might differ.
    lookup: (_name, _options, done) => done(null, [...addresses]),
    autoSelectFamily: true,
    noDelay: true,
    allowHalfOpen: true,
  });
  try {
    await once(socket, 'connect', { signal: inTime });
    return socket;
  } catch (cause) {
    socket.destroy();
    throw new GauntletError('tool_failed', `Cannot connect to "${spellEndpoint(endpoint)}": ${reason(cause)}`, {
      cause,
    });
  }
}

/** Message for a failed connection: of several attempts, the first error. */
function reason(cause: unknown): string {
  const [first = cause] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [];
  return first instanceof Error && 'code' in first ? String(first.code) : errorMessage(first);
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
  }, bounds.lookMs);
  socket.setTimeout(bounds.idleMs, end);
  socket.once('close', () => clearInterval(look));
}

/**
 * True if the address belongs to the public Internet.
 *
 * @param address IPv4 as four decimal numbers, or IPv6 without brackets. Anything else is not public.
 */
export function isPublicAddress(address: string): boolean {
  // ipaddr.js also accepts `127.1` and `2130706433`, and keeps zone ids.
  if (isIP(address) === 0 || address.includes('%') || address === METADATA_ADDRESS) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(ASSIGNED_IPV6)) return false;
  return parsed.range() === 'unicast';
}
