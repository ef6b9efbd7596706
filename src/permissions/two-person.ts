/**
 * Calls that need the yes of two different principals (`approvals.twoPerson`).
 *
 * Their rules are ask rules in a context of their own, so that they match as all rules do and no session
 * can change them.
 */
import type { ToolPermissionContext } from '../wire/permission-context.ts';
import { createPermissionContext } from './context.ts';
import { parseRule } from './rule.ts';

/** Different principals that must say yes to such a call. */
export const TWO_PERSONS = 2;

/** Which calls need two persons, and how many there are. */
export interface TwoPersonRules {
  /** Holds the rules, as ask rules. */
  readonly permissions: ToolPermissionContext;
  /** Principals that can answer at all. */
  readonly principals: number;
}

/**
 * Read the rules of the setting.
 *
 * @returns undefined where there are none.
 * @throws {GauntletError} `invalid_request` for a rule that does not parse.
 */
export function twoPersonRules(rules: readonly string[], principals: number): TwoPersonRules | undefined {
  if (rules.length === 0) return undefined;
  rules.forEach(parseRule);
  const settings = { mode: 'default', rules: { userSettings: { ask: rules } }, isBypassAvailable: false } as const;
  return { permissions: createPermissionContext(settings), principals };
}

/** What whoever is asked, or refused, reads. */
export function twoPersonMessage(rule: string, principals: number): string {
  const need = `Rule "${rule}" wants the yes of two different principals`;
  if (principals >= TWO_PERSONS) return need;
  return `${need}, and only one is configured, so this call can never be allowed. Configure a second one`;
}
