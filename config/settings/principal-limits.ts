/**
 * Limits that count for one principal, whatever the number of its connections and sessions.
 */
import type { Limits } from '../limits.ts';

/** Their names. */
export const PRINCIPAL_LIMITS = [
  'requestsPerSecond',
  'requestBurst',
  'callsAtOnce',
  'sessionsInUse',
  'streams',
] as const satisfies readonly (keyof Limits)[];

/** One principal's; 0: no bound. */
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
