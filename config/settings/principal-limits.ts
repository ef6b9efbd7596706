/**
 * Limits of one principal, over all its connections and sessions.
 */
import type { Limits } from '../limits.ts';

/** Names of these limits. */
export const PRINCIPAL_LIMITS = [
  'requestsPerSecond',
  'requestBurst',
  'callsAtOnce',
  'sessionsInUse',
  'streams',
] as const satisfies readonly (keyof Limits)[];

/** The limits of one principal; 0 means no bound. */
export type PrincipalLimits = Pick<Limits, (typeof PRINCIPAL_LIMITS)[number]>;

/** A principal's own where it has some, else the server's; neither is looser than the policy's. */
export function principalLimits(
  server: PrincipalLimits,
  own: Partial<PrincipalLimits> = {},
  policy: Partial<PrincipalLimits> = {},
): PrincipalLimits {
  const limits = PRINCIPAL_LIMITS.map((name) => [name, stricter(own[name] ?? server[name], policy[name] ?? 0)]);
  return Object.fromEntries(limits) as Record<keyof PrincipalLimits, number>;
}

function stricter(one: number, other: number): number {
  return one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);
}
