/** What Bash asks before it runs, and the rule it suggests. */
import type { PermissionResult } from '../../../src/contract/decision.ts';
import { suggestShellSpecs } from '../../../src/permissions/shell/suggest.ts';
import type { Sandbox } from '../../../src/process/sandbox.ts';
import { isSandboxed } from './enclosed.ts';
import type { BashArguments } from './schema.ts';

/** Leaving the sandbox, where there is one, needs a person each time; all else is for the general rules. */
export function checkBash(input: BashArguments, sandbox: Sandbox | undefined): PermissionResult {
  if (input.dangerouslyDisableSandbox !== true || sandbox === undefined) return { behavior: 'allow' };
  if (sandbox.isRequired) {
    const message = 'Cannot leave the sandbox: this server requires it. Call again without "dangerouslyDisableSandbox"';
    return { behavior: 'deny', message };
  }
  return { behavior: 'ask', message: 'The command wants to run outside the sandbox', isSafetyCheck: true };
}

/** It runs in the sandbox, and the operator lets what runs there run unasked. */
export function runsContained(input: BashArguments, sandbox: Sandbox | undefined): boolean {
  return isSandboxed(sandbox, input) && sandbox.isAutoAllowed;
}

/** What "always allow" would add: prefixes such as `Bash(touch:*)`. */
export function suggestBashRules(input: BashArguments): readonly string[] {
  return suggestShellSpecs(input.command).map((spec) => `Bash(${spec})`);
}
