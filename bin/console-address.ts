/**
 * The address of the console, with the ticket by which a browser signs in.
 *
 * The ticket stands behind `#`: browsers send that part to no server, so no access log has it.
 */
import { spellEndpoint } from '../config/authority.ts';
import type { Settings } from '../config/settings.ts';

/** Return the address of the server for a browser: the public one, else a name that it lets in. */
export function browserAddress(
  { publicUrl, allowedHosts, host }: Pick<Settings, 'publicUrl' | 'allowedHosts' | 'host'>,
  port: number,
): string {
  if (publicUrl !== undefined) return publicUrl;
  const [name] = allowedHosts;
  if (name === undefined) return `http://${spellEndpoint({ host, port })}`;
  return /:\d+$/.test(name) && !name.endsWith(']') ? `http://${name}` : `http://${name}:${port}`;
}

/** Put a ticket behind the address of a server. */
export function consoleAddress(base: string, ticket: string): string {
  return `${base.replace(/\/+$/, '')}/#ticket=${ticket}`;
}
