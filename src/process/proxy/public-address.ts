/**
 * Tells addresses of the public Internet from those of this machine, its networks and its cloud.
 */
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** A cloud's metadata service, at an address that is registered as public. */
const METADATA_ADDRESS = '168.63.129.16';

/** The only IPv6 addresses that are assigned to the public; ipaddr.js takes the unassigned ones for unicast too. */
const ASSIGNED_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether the address belongs to the public Internet.
 *
 * @param address IPv4 as four decimal numbers, or IPv6 without brackets. Anything else is not public.
 */
export function isPublicAddress(address: string): boolean {
  // ipaddr.js reads `127.1` and `2130706433` as addresses too, and drops no zone.
  if (isIP(address) === 0 || address.includes('%') || address === METADATA_ADDRESS) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(ASSIGNED_IPV6)) return false;
  return parsed.range() === 'unicast';
}
