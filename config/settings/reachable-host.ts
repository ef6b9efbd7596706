/**
 * A host that sandboxed commands may reach, as the settings file writes it.
 */
import { isIP } from 'node:net';
import * as z from 'zod';
import { parseAuthority, type Authority } from '../authority.ts';

/** A host, or all names below one. */
export interface HostPattern extends Authority {
  /** It covers the names below `host`, not `host` itself. */
  readonly isBelow: boolean;
}

/** A name, all names below one, or an address; with a port or without. */
export const reachableHost = z
  .string()
  .toLowerCase()
  .refine(
    (text) => parseHostPattern(text) !== undefined,
    'must be hosts such as "example.com", "*.example.com", "example.com:8443" or "10.0.0.7:8080", in ASCII and without a scheme',
  );

/** Read `host` or `*.host`, with `:port` or without. @returns undefined for anything else: no name is below an address. */
export function parseHostPattern(text: string): HostPattern | undefined {
  const isBelow = text.startsWith('*.');
  const authority = parseAuthority(isBelow ? text.slice(2) : text);
  return authority === undefined || (isBelow && isIP(authority.host) !== 0) ? undefined : { ...authority, isBelow };
}
