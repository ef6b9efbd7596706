/**
 * Which hosts sandboxed commands may reach: those that every list covers.
 */
import { parseHostPattern, type HostPattern } from '../../../config/settings/reachable-host.ts';

/** Lists of hosts, read. */
export interface AllowedHosts {
  /** What of the lists can be reached, as it was written: for whoever is told. */
  readonly names: readonly string[];
  /** @param host As `Endpoint` has it. */
  covers(host: string, port: number): boolean;
  /** Whether an entry is just this host, with whatever port. */
  mentions(host: string): boolean;
}

interface Pattern extends Omit<HostPattern, 'port'> {
  readonly text: string;
  readonly ports: readonly number[];
}

/** Of entries without a port. */
const WEB_PORTS = [80, 443];

/**
 * Read lists of `host`, `*.host`, an address, each with or without `:port`.
 *
 * @param lists The settings file's, and the policy's where it has one too.
 * @throws {RangeError} If an entry is none of these: settings are checked before.
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
    mentions: (host) => reachable.some((pattern) => !pattern.isBelow && pattern.host === host),
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
