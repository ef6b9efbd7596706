/**
 * Warns about rules that can never apply: a rule that names no tool protects nothing.
 */
import type { PermissionUpdate } from '../../src/wire/permission-context.ts';
import type { Session } from '../../src/session/session.ts';

/** Return the `warnings` of a reply; empty if there are none. */
export function warningsAbout(
  rules: readonly string[],
  session: Pick<Session, 'ruleWarnings'>,
): { readonly warnings?: readonly string[] } {
  const warnings = session.ruleWarnings(rules);
  return warnings.length === 0 ? {} : { warnings };
}

/** Return the rules that updates add. */
export function rulesOf(updates: readonly PermissionUpdate[] = []): readonly string[] {
  return updates.flatMap((update) =>
    update.type === 'addRules' || update.type === 'replaceRules' ? update.rules : [],
  );
}
