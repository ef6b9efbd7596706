/** What Bash asks before it runs, and the rule it suggests. */
import type { PermissionResult } from '../../../src/contract/decision.ts';
import { suggestShellSpecs } from '../../../src/permissions/shell/suggest.ts';
import type { BashArguments } from './schema.ts';

/** Leaving the sandbox needs a person each time; all else is for the general rules. */
export function checkBash(input: BashArguments): PermissionResult {
  if (input.dangerouslyDisableSandbox !== true) return { behavior: 'allow' };
  return { behavior: 'ask', message: 'The command wants to run outside the sandbox', isSafetyCheck: true };
}

/** What "always allow" would add: prefixes such as `Bash(touch:*)`. */
export function suggestBashRules(input: BashArguments): readonly string[] {
  return suggestShellSpecs(input.command).map((spec) => `Bash(${spec})`);
}
