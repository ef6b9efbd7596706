/**
 * `host` and `host:port`, read strictly: one spelling a host, and none that another program may read as an address.
 */
import { isIPv4, isIPv6 } from 'node:net';

/** The end of a connection. */
export interface Endpoint {
  /** A name in lower case, or an address in its shortest form, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** An endpoint as it was written: the port may be missing. */
export type Authority = Pick<Endpoint, 'host'> & { readonly port: number | undefined };

const AUTHORITY = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const LONGEST_NAME = 253;
const HIGHEST_PORT = 65_535;

/**
 * Read `host` or `host:port`.
 *
 * @returns undefined for anything else: names that are not ASCII, `127.1`, `0x7f000001`, a dot at the end, `user@host`.
 */
export function parseAuthority(text: string): Authority | undefined {
  const [, address, name, digits] = AUTHORITY.exec(text) ?? [];
  const host = address === undefined ? readName(name?.toLowerCase() ?? '') : readBracketed(address);
  const port = digits === undefined ? undefined : Number(digits);
  if (host === undefined || port === 0 || (port ?? 0) > HIGHEST_PORT) return undefined;
  return { host, port };
}

/** Normalise an address for comparison. @returns `undefined` if it is invalid. */
export function canonicalAddress(address: string): string | undefined {
  if (isIPv4(address)) return address;
  return isIPv6(address) && !address.includes('%') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : undefined;
}

/** As a message or an address shows it. */
export function spellEndpoint({ host, port }: Endpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function readBracketed(address: string): string | undefined {
  return address.includes(':') ? canonicalAddress(address) : undefined;
}

/** A last label that does not begin with a letter may be read as a number, and the whole as an address. */
function readName(name: string): string | undefined {
  if (isIPv4(name)) return name;
  const labels = name.split('.');
  const isName = name.length <= LONGEST_NAME && labels.every((label) => LABEL.test(label));
  return isName && /^[a-z]/.test(labels.at(-1) ?? '') ? name : undefined;
}
