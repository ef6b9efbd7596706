/**
 * How often each principal may ask, over all its connections; off unless set.
 */
import type { PrincipalLimits } from '../config/settings/principal-limits.ts';
import { GauntletError } from '../src/base/errors.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

/** Counts requests. */
export interface RequestRates {
  /** @throws {GauntletError} `rate_limited`, with `retry_after_ms` in its details. */
  count(principal: string): void;
}

/** Make the counters. @param limitsOf A principal's limits; they never change. */
export function createRequestRates(limitsOf: (principal: string) => PrincipalLimits): RequestRates {
  /** One a principal; undefined: it has no bound. */
  const buckets = new Map<string, TokenBucket | undefined>();
  return {
    count(principal) {
      if (!buckets.has(principal)) buckets.set(principal, bucketFor(limitsOf(principal)));
      const bucket = buckets.get(principal);
      if (bucket === undefined || bucket.take()) return;
      const details = { reason: REQUESTS, retry_after_ms: bucket.waitMs };
      throw new GauntletError('rate_limited', 'Too many requests: send fewer a second', { details });
    },
  };
}

/** Whether an error says that a principal asked too often: over a WebSocket, that ends the connection. */
export function isTooOften(error: unknown): boolean {
  return error instanceof GauntletError && error.code === 'rate_limited' && error.details?.reason === REQUESTS;
}

const REQUESTS = 'requests';

function bucketFor({ requestsPerSecond, requestBurst }: PrincipalLimits): TokenBucket | undefined {
  if (requestsPerSecond === 0) return undefined;
  return createTokenBucket(requestBurst === 0 ? requestsPerSecond : requestBurst, requestsPerSecond);
}
