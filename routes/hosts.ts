/**
 * Which `Host` values reach this server: what stops a page that rebinds its DNS name to us.
 */

const DEFAULT_PORT = 80;

/**
 * The `Host` values to allow, lower case.
 *
 * @param configured The operator's list; a name without a port stands for itself alone and with ours. Empty: the
 *   loopback names with the port.
 */
export function allowedHosts(configured: readonly string[], port: number): ReadonlySet<string> {
  if (configured.length > 0) return new Set(configured.flatMap((host) => withOurPort(host.toLowerCase(), port)));
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  const withPort = names.map((name) => `${name}:${port}`);
  return new Set(port === DEFAULT_PORT ? [...withPort, ...names] : withPort);
}

function withOurPort(host: string, port: number): readonly string[] {
  return /:\d+$/.test(host) && !host.endsWith(']') ? [host] : [host, `${host}:${port}`];
}
