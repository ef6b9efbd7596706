/**
 * Limits what one address may do, so that it cannot keep the server busy.
 */
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

/** Counts one act of an address; returns false if the address has exceeded its limit. */
export type AddressLimit = (address: string) => boolean;

/** Addresses that are counted; the one seen first is forgotten for a new one. */
const MAX_ADDRESSES = 4_096;

/** Create the limit. @param burst Acts at once. @param perSecond Acts by which that burst is refilled. */
export function createAddressLimit(burst: number, perSecond: number): AddressLimit {
  const buckets = new Map<string, TokenBucket>();
  return function count(address) {
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
