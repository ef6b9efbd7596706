/**
 * Which headers go on: all but those between two neighbours, and what is for the proxy itself.
 */

/** @see RFC 9110, 7.6.1 */
const BETWEEN_NEIGHBOURS = new Set([
  'connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authentication-info',
  'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade',
]); // prettier-ignore

/**
 * Take out what must not be forwarded.
 *
 * @param rawHeaders Names and values in turn, as Node reads them.
 * @param more Further names to take out, in lower case.
 * @returns In the same form and order.
 */
export function forwardedHeaders(rawHeaders: readonly string[], more: readonly string[] = []): string[] {
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [{ name, lower: name.toLowerCase(), value: rawHeaders[index + 1] ?? '' }] : [],
  );
  const named = pairs
    .filter(({ lower }) => lower === 'connection')
    .flatMap(({ value }) => value.toLowerCase().split(','));
  const dropped = new Set([...BETWEEN_NEIGHBOURS, ...more, ...named.map((name) => name.trim())]);
  return pairs.flatMap(({ name, lower, value }) => (dropped.has(lower) ? [] : [name, value]));
}
