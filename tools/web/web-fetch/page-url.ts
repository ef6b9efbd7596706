/**
 * Parses addresses of pages, refuses those that are never requested, and classifies redirects.
 */
import { type Endpoint, parseAuthority } from '../../../config/authority.ts';
import { hasHiddenCharacters, showText } from '../../../src/base/hidden-characters.ts';

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Ports of other protocols, whose servers could act on a request. @see https://fetch.spec.whatwg.org/#port-blocking */
// prettier-ignore
const FOREIGN_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540,
  548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
  6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Address that may be requested: without user and fragment, with a canonical host. */
export interface PageUrl {
  readonly url: URL;
  readonly endpoint: Endpoint;
}

/**
 * Parse an address, or describe why it is not requested.
 *
 * @param base Resolves relative addresses.
 */
export function readPageUrl(text: string, base?: URL): PageUrl | { readonly problem: string } {
  if (hasHiddenCharacters(text)) return { problem: 'it contains invisible characters; remove them' };
  if (!URL.canParse(text, base?.href)) {
    return { problem: 'it is not an absolute address; give one such as "https://example.com/page"' };
  }
  const url = new URL(text, base);
  const defaultPort = DEFAULT_PORTS[url.protocol];
  if (defaultPort === undefined) {
    return { problem: `"${url.protocol}" addresses are not fetched; give one of http or https` };
  }
  if (url.username !== '' || url.password !== '')
    return { problem: 'it contains a user name or password; give it without them' };
  // `example.com.` is the same host in fully qualified form.
  const host = parseAuthority(url.hostname.replace(/\.$/, ''))?.host;
  if (host === undefined) return { problem: `"${showText(url.hostname)}" is neither a host name nor an address` };
  const port = url.port === '' ? defaultPort : Number(url.port);
  if (FOREIGN_PORTS.has(port)) return { problem: `port ${port} belongs to another protocol than HTTP` };
  url.hostname = host.includes(':') ? `[${host}]` : host;
  url.hash = '';
  return { url, endpoint: { host, port } };
}

/**
 * Classify a redirect: `follow` inside one host and port; `judge` from HTTP to HTTPS on one host, since rules may name
 * ports; `report` for anything else.
 */
export function redirectKind(from: PageUrl, to: PageUrl): 'follow' | 'judge' | 'report' {
  if (from.endpoint.host !== to.endpoint.host) return 'report';
  if (from.url.protocol === to.url.protocol) return from.endpoint.port === to.endpoint.port ? 'follow' : 'report';
  return from.endpoint.port === 80 && to.endpoint.port === 443 ? 'judge' : 'report';
}
