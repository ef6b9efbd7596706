/**
 * Calls that need the approval of two different principals (`approvals.twoPerson`).
 *
 * Their rules are ask rules in a separate context, so that they match as all rules do and no session can change them.
 */
import type { ToolPermissionContext } from '../wire/permission-context.ts';
import { createPermissionContext } from './context.ts';
import { parseRule } from './rule.ts';

/** Number of different principals that must approve such a call. */
export const TWO_PERSONS = 2;

/** Rules for calls that need two persons, and the number of principals. */
export interface TwoPersonRules {
  /** Context with the rules, as ask rules. */
  readonly permissions: ToolPermissionContext;
  /** Number of principals that can answer. */
  readonly principals: number;
}

/**
 * Compile the rules of the setting.
 *
 * @returns undefined if there are none.
 * @throws {GauntletError} `invalid_request` for a rule that does not parse.
 */
export function twoPersonRules(rules: readonly string[], principals: number): TwoPersonRules | undefined {
  if (rules.length === 0) return undefined;
  rules.forEach(parseRule);
  const settings = { mode: 'default', rules: { userSettings: { ask: rules } }, isBypassAvailable: false } as const;
  return { permissions: createPermissionContext(settings), principals };
}

/** Format the message for a call that needs two persons. */
export function twoPersonMessage(rule: string, principals: number): string {
  const need = `Rule "${rule}" wants the yes of two different principals`;
  if (principals >= TWO_PERSONS) return need;
  return `${need}, and only one is configured, so this call can never be allowed. Configure a second one`;
}
