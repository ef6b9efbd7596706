/**
 * Warnings in the reply to whoever sent rules: a rule that names no tool is a guard that does not exist.
 */
import type { PermissionUpdate } from '../../src/wire/permission-context.ts';
import type { Session } from '../../src/session/session.ts';

/** The `warnings` of a reply; none where there is nothing to warn of. */
export function warningsAbout(
  rules: readonly string[],
  session: Pick<Session, 'ruleWarnings'>,
): { readonly warnings?: readonly string[] } {
  const warnings = session.ruleWarnings(rules);
  return warnings.length === 0 ? {} : { warnings };
}

/** The rules that updates bring. */
export function rulesOf(updates: readonly PermissionUpdate[] = []): readonly string[] {
  return updates.flatMap((update) =>
    update.type === 'addRules' || update.type === 'replaceRules' ? update.rules : [],
  );
}
