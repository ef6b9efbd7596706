/**
 * How often one address may come with a bad credential. A good one is never refused for it: whoever shares an
 * address with an attacker, behind a proxy or on one machine, must not be locked out.
 */
import type { Limits } from '../config/limits.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

/** Make the counter. @returns Counts one; false when the address has had too many. */
export function createBadCredentials(
  limits: Pick<Limits, 'badCredentialBurst' | 'badCredentialsPerSecond' | 'badCredentialAddresses'>,
): (address: string) => boolean {
  const buckets = new Map<string, TokenBucket>();
  return function mayFail(address) {
    const known = buckets.get(address);
    if (known) return known.take();
    // The oldest is forgotten, so that many addresses cost no memory.
    for (const oldest of buckets.keys()) {
      if (buckets.size < limits.badCredentialAddresses) break;
      buckets.delete(oldest);
    }
    const bucket = createTokenBucket(limits.badCredentialBurst, limits.badCredentialsPerSecond);
    buckets.set(address, bucket);
    return bucket.take();
  };
}
