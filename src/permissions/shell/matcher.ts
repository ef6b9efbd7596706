/** Matches a command line against the specs of Bash rules. */
import type { PermissionMatcher } from '../../contract/tool.ts';
import { classifyCommand } from './classify.ts';

/** A matcher for one command line; see `PermissionMatcher`. */
export function shellMatcher(command: string): PermissionMatcher {
  const verdict = classifyCommand(command);
  return {
    isUnparsable: verdict.isUnparsable,
    parts: verdict.parts,
    hits: (specs) => specs[0],
    covers: (specs) => (specs.includes('*') ? ['*'] : undefined),
  };
}
