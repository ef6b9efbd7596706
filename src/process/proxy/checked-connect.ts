/**
 * Connects to checked addresses only: a name is resolved once, each of its addresses is judged, and the connection goes to
 * one of exactly those. No other file judges addresses.
 */
import ipaddr from 'ipaddr.js';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { canonicalAddress, type Endpoint, spellEndpoint } from '../../../config/authority.ts';
import { errorMessage, GauntletError } from '../../base/errors.ts';
import type { Lookup } from './lookup.ts';

/** Metadata service of a cloud, at an address that is registered as public. */
const METADATA_ADDRESS = '168.63.129.16';

/** The only IPv6 range assigned for public use; ipaddr.js classifies unassigned ones as unicast too. */
const ASSIGNED_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Addresses that a connection may lead to. */
export interface AddressRules {
  readonly lookup: Lookup;
  /** True if the operator permits an address that is not public. @param address In canonical form. */
  isListed(endpoint: Endpoint, address: string): boolean;
  /** Create the error for an endpoint with an address that is neither public nor listed. */
  refusal(endpoint: Endpoint): GauntletError;
}

type Addresses = Awaited<ReturnType<Lookup>>;

/**
 * Connect to an endpoint whose every address is public or listed.
 *
 * @param endpoint As `parseAuthority` reads it. @param inTime Ends the attempt.
 * @returns A connected socket; the caller handles its errors.
 * @throws {GauntletError} The refusal; `tool_failed` if the name is not found or no connection is made.
 */
export async function connectChecked(endpoint: Endpoint, rules: AddressRules, inTime: AbortSignal): Promise<Socket> {
  const addresses = await addressesOf(endpoint.host, rules.lookup, inTime);
  // One address that is not permitted disqualifies all: the client could be connected to that one next.
  const areAllPermitted = addresses.every(
    ({ address }) => isPublicAddress(address) || rules.isListed(endpoint, canonicalAddress(address) ?? ''),
  );
  if (addresses.length === 0 || !areAllPermitted) throw rules.refusal(endpoint);
  return await connectTo(endpoint, addresses, inTime);
}

/** Literal addresses are judged like any other. Node calls no `lookup` for them. */
async function addressesOf(host: string, lookup: Lookup, inTime: AbortSignal): Promise<Addresses> {
  if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
  return await lookup(host, inTime).catch((cause: unknown) => {
    throw new GauntletError('tool_failed', `Cannot find "${host}": ${errorMessage(cause)}`, { cause });
  });
}

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
