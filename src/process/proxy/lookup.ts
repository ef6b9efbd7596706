/**
 * Names into addresses, as the machine does it, a few at a time: it takes threads that files are read on too.
 */
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import pLimit from 'p-limit';
import type { Limits } from '../../../config/limits.ts';

/** All addresses of a name. @throws As `dns.lookup`; the signal's reason, which leaves the question to its end. */
export type Lookup = (name: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

/** The machine's own: its hosts file, its name servers. */
export function createLookup(limits: Pick<Limits, 'sandboxProxyLookups'>): Lookup {
  const limit = pLimit(limits.sandboxProxyLookups);
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
