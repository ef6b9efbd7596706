/**
 * Matches rules about the host of a call: `WebFetch(domain:example.com)`, `WebFetch(domain:*.example.com)`.
 *
 * They apply to every tool without a matcher of its own that takes its address as `url`.
 */
import { domainToASCII } from 'node:url';
import { parseAuthority } from '../../config/authority.ts';
import { parseHostPattern } from '../../config/settings/reachable-host.ts';
import type { PermissionMatcher } from '../tool/tool.ts';

const PREFIX = 'domain:';
const BELOW = '*.';
const DEFAULT_PORTS = new Map([
  ['http:', 80],
  ['https:', 443],
]);

/**
 * Match specs against the host of an address.
 *
 * If the spec names no host, or the address cannot be parsed, deny and ask rules match and allow rules do not. A host
 * matches itself only, `*.` all names below it; a port in the rule must equal the address's.
 */
export function domainMatcher(url: unknown): PermissionMatcher {
  const target = typeof url === 'string' ? targetOf(url) : undefined;
  const judge = (spec: string): boolean | undefined => {
    const pattern = patternOf(spec);
    if (!target || !pattern) return undefined;
    const isHost = pattern.isBelow ? target.host.endsWith(`.${pattern.host}`) : target.host === pattern.host;
    return isHost && (pattern.port ?? target.port) === target.port;
  };
  return {
    hits: (specs) => specs.find((spec) => judge(spec) !== false),
    covers(specs) {
      const spec = specs.find((each) => judge(each) === true);
      return spec === undefined ? undefined : [spec];
    },
  };
}

function patternOf(spec: string): ReturnType<typeof parseHostPattern> {
  if (!spec.startsWith(PREFIX)) return undefined;
  const text = spec.slice(PREFIX.length).trim();
  const isBelow = text.startsWith(BELOW);
  const host = isBelow ? text.slice(BELOW.length) : text;
  // Internationalized names may be written in Unicode.
  const spelled = /[^ -~]/.test(host) ? domainToASCII(host) : host.toLowerCase();
  return parseHostPattern(isBelow ? BELOW + spelled : spelled);
}

function targetOf(url: string): { readonly host: string; readonly port: number } | undefined {
  try {
    const { protocol, hostname, port } = new URL(url);
    const scheme = DEFAULT_PORTS.get(protocol);
    // `example.com.` is the same host in fully qualified form.
    const host = parseAuthority(hostname.replace(/\.$/, ''))?.host;
    return scheme === undefined || host === undefined ? undefined : { host, port: Number(port) || scheme };
  } catch {
    // Not a URL, so its host is unknown.
    return undefined;
  }
}
