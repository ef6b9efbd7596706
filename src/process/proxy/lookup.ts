/**
 * Resolves names with the system's resolver, a few at a time: it occupies threads that file reads share.
 */
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import pLimit from 'p-limit';

/** Names looked up at once: each takes one of the four threads that files are read on too. */
const MAX_LOOKUPS = 2;

/**
 * Resolves all addresses of a name.
 *
 * @throws As `dns.lookup`, or the signal's reason; an aborted query still runs to its end.
 */
export type Lookup = (name: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

/** Create a lookup that uses the system's hosts file and name servers. */
export function createLookup(): Lookup {
  const limit = pLimit(MAX_LOOKUPS);
  return (name, signal) =>
    unlessAborted(
      limit(() => lookup(name, { all: true })),
      signal,
    );
}

function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
