/**
 * Counts bad credentials by address, so that one address cannot keep the server busy with them.
 */
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

/** Counts one; returns false if the address has exceeded its limit. */
export type CountBadCredential = (address: string) => boolean;

/** Bad credentials that one address may send at once, and those by which that burst is refilled; more get 429. */
const BURST = 2_000;
const PER_SECOND = 100;

/** Addresses that are counted; the one seen first is forgotten for a new one. */
const MAX_ADDRESSES = 4_096;

/** Create the counter. */
export function createBadCredentials(burst = BURST, perSecond = PER_SECOND): CountBadCredential {
  const buckets = new Map<string, TokenBucket>();
  return function countBadCredential(address) {
    const known = buckets.get(address);
    if (known) return known.take();
    // The oldest entry is dropped, so that many addresses do not exhaust memory.
    for (const oldest of buckets.keys()) {
      if (buckets.size < MAX_ADDRESSES) break;
      buckets.delete(oldest);
    }
    const bucket = createTokenBucket(burst, perSecond);
    buckets.set(address, bucket);
    return bucket.take();
  };
}
