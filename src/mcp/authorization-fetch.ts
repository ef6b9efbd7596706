/**
 * A `fetch` for authorization servers, whose addresses come from MCP servers and not from the operator.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import { parseAuthority } from '../../config/authority.ts';
import { isLoopback } from '../../config/settings/door.ts';
import { isPublicAddress } from '../process/proxy/checked-connect.ts';
import type { Lookup } from '../process/proxy/lookup.ts';
import { boundedFetch } from './bounded-fetch.ts';

/** Metadata and tokens have a few KiB. */
const MAX_REPLY_BYTES = 1_024 * 1_024;

/** Time for one reply. */
const REPLY_MS = 10_000;

/**
 * Create a `fetch` that requires HTTPS and follows no redirects. A public MCP server may name public addresses only, a
 * private one other private ones, and only one on this machine another on this machine, for which HTTP suffices.
 *
 * A name could resolve differently for the request than for the check; without a certificate for the name, the request
 * then fails before anything is sent.
 */
export function authorizationFetch(serverUrl: string, lookup: Lookup, signal: AbortSignal): FetchLike {
  const server = new URL(serverUrl);
  const fetchBounded = boundedFetch(MAX_REPLY_BYTES);

  async function check(url: URL): Promise<void> {
    if (url.origin === server.origin) return;
    if (isOnThisMachine(url)) {
      if (isOnThisMachine(server)) return;
    } else if (url.protocol === 'https:') {
      if (await isPublic(url, lookup, signal)) return;
      if (!(await isPublic(server, lookup, signal))) return;
    }
    throw new Error(`"${url.origin}" may not be asked for its sake: it needs HTTPS and an address that is public`);
  }

  return async function fetchChecked(input, init) {
    await check(new URL(input));
    const ended = [signal, AbortSignal.timeout(REPLY_MS), ...(init?.signal ? [init.signal] : [])];
    return fetchBounded(input, { ...init, redirect: 'error', signal: AbortSignal.any(ended) });
  };
}

/** True for an HTTP or HTTPS address of this machine, literally. */
export function isOnThisMachine({ protocol, hostname }: URL): boolean {
  return /^https?:$/.test(protocol) && isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

async function isPublic({ hostname }: URL, lookup: Lookup, signal: AbortSignal): Promise<boolean> {
  const host = parseAuthority(hostname.replace(/\.$/, ''))?.host;
  if (host === undefined) return false;
  const addresses = isPublicAddress(host) ? [{ address: host }] : await lookup(host, signal);
  return addresses.length > 0 && addresses.every(({ address }) => isPublicAddress(address));
}
