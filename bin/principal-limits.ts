/**
 * How much each principal may use, for the doors and the sessions alike.
 */
import type { Settings } from '../config/settings.ts';
import type { PrincipalLimits } from '../config/settings/principal-limits.ts';

/** A principal's limits by name; the server's for whoever has none of its own. */
export function limitsOfPrincipals({ principals, limits }: Settings): (principal: string) => PrincipalLimits {
  const known = new Map(principals.map((who) => [who.name, who.limits]));
  return (principal) => known.get(principal) ?? limits;
}
