/**
 * Names into addresses, as the machine does it, a few at a time: it takes threads that files are read on too.
 */
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import type { Limits } from '../../../config/limits.ts';

/** All addresses of a name. @throws As `dns.lookup`; the signal's reason, which leaves the question to its end. */
export type Lookup = (name: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

/** The machine's own: its hosts file, its name servers. */
export function createLookup(limits: Pick<Limits, 'sandboxProxyLookups'>): Lookup {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function lookUp(name: string): Promise<readonly LookupAddress[]> {
    if (running >= limits.sandboxProxyLookups) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await lookup(name, { all: true });
    } finally {
      const next = waiting.shift();
      // Whoever goes on takes the place as it is.
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return (name, signal) => unlessAborted(lookUp(name), signal);
}

function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
