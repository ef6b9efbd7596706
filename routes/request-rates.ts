/**
 * Limits the request rate of each principal over all its connections; off unless configured.
 */
import type { PrincipalLimits } from '../config/settings/principal-limits.ts';
import { GauntletError } from '../src/base/errors.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

/** Counts requests. */
export interface RequestRates {
  /** @throws {GauntletError} `rate_limited`, with `retry_after_ms` in its details. */
  count(principal: string): void;
}

/** Create the counters. @param limitsOf Returns a principal's limits, which never change. */
export function createRequestRates(limitsOf: (principal: string) => PrincipalLimits): RequestRates {
  /** By principal; `undefined` if it has no limit. */
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

/** True if an error is that of the request rate: on a WebSocket, it ends the connection. */
export function isTooOften(error: unknown): boolean {
  return error instanceof GauntletError && error.code === 'rate_limited' && error.details?.reason === REQUESTS;
}

const REQUESTS = 'requests';

function bucketFor({ requestsPerSecond, requestBurst }: PrincipalLimits): TokenBucket | undefined {
  if (requestsPerSecond === 0) return undefined;
  return createTokenBucket(requestBurst === 0 ? requestsPerSecond : requestBurst, requestsPerSecond);
}
