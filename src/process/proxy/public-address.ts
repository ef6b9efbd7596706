/**
 * Whether an address is one of the public Internet: no machine or network of ours, no cloud's metadata.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** @see IANA IPv4 Special-Purpose Address Registry */
const NOT_PUBLIC_IPV4 = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
  '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
  '224.0.0.0/4', '240.0.0.0/4',
  // A cloud's metadata at an address that looks public.
  '168.63.129.16/32',
]; // prettier-ignore

/** All that is given out so far; what maps, embeds or translates IPv4 lies outside, or is taken out below. */
const PUBLIC_IPV6 = ['2000::/3'];
/** @see IANA IPv6 Special-Purpose Address Registry */
const NOT_PUBLIC_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const closedIPv4 = blockList(NOT_PUBLIC_IPV4, 'ipv4');
const openIPv6 = blockList(PUBLIC_IPV6, 'ipv6');
const closedIPv6 = blockList(NOT_PUBLIC_IPV6, 'ipv6');

/**
 * Whether anybody may be meant by an address.
 *
 * @param address IPv4 as four decimal numbers, or IPv6 without brackets. Anything else is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closedIPv4.check(address, 'ipv4');
  return isIPv6(address) && openIPv6.check(address, 'ipv6') && !closedIPv6.check(address, 'ipv6');
}

function blockList(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}
