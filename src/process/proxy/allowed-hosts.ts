/**
 * Decides which hosts sandboxed commands may reach: those that every list covers.
 */
import { parseHostPattern, type HostPattern } from '../../../config/settings/reachable-host.ts';

/** Parsed lists of hosts. */
export interface AllowedHosts {
  /** Entries that can be reached, as written, for display. */
  readonly names: readonly string[];
  /** @param host In the form of `Endpoint`. */
  covers(host: string, port: number): boolean;
  /** True if an entry is exactly this host, with any port. */
  isListed(host: string): boolean;
}

interface Pattern extends Omit<HostPattern, 'port'> {
  readonly text: string;
  readonly ports: readonly number[];
}

/** Ports of entries without one. */
const WEB_PORTS = [80, 443];

/**
 * Parse lists of `host`, `*.host` or an address, each with or without `:port`.
 *
 * @param lists The list of the settings file, and that of the policy if it has one.
 * @throws {RangeError} If an entry is none of these; settings are validated before.
 */
export function allowedHosts(lists: readonly (readonly string[])[]): AllowedHosts {
  const patterns = lists.map((list) => list.map(readPattern));
  const covers = (host: string, port: number) =>
    patterns.length > 0 && patterns.every((list) => list.some((pattern) => isCovered(pattern, host, port)));
  const reachable = patterns.flat().filter(({ host, isBelow, ports }) => {
    const example = isBelow ? `any.${host}` : host;
    return ports.some((port) => covers(example, port));
  });
  return {
    names: [...new Set(reachable.map(({ text }) => text))],
    covers,
    isListed: (host) => reachable.some((pattern) => !pattern.isBelow && pattern.host === host),
  };
}

function readPattern(text: string): Pattern {
  const pattern = parseHostPattern(text);
  if (pattern === undefined) throw new RangeError(`Cannot allow "${text}": it is neither a host nor an address`);
  const { host, isBelow, port } = pattern;
  return { text, host, isBelow, ports: port === undefined ? WEB_PORTS : [port] };
}

function isCovered(pattern: Pattern, host: string, port: number): boolean {
  const isHost = pattern.isBelow ? host.endsWith(`.${pattern.host}`) : host === pattern.host;
  return isHost && pattern.ports.includes(port);
}
