/**
 * Which `Host` values reach this server: what stops a page that rebinds its DNS name to us.
 */

const DEFAULT_PORT = 80;

/**
 * The `Host` values to allow, lower case.
 *
 * @param configured The operator's list, taken as written; empty: the loopback names with the port.
 */
export function allowedHosts(configured: readonly string[], port: number): ReadonlySet<string> {
  if (configured.length > 0) return new Set(configured.map((host) => host.toLowerCase()));
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  const withPort = names.map((name) => `${name}:${port}`);
  return new Set(port === DEFAULT_PORT ? [...withPort, ...names] : withPort);
}
