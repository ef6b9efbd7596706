/** The permissions of a session at one time, which bound what is begun later in its name. */
import type { PermissionMode, RuleSet } from '../wire/permission-context.ts';

/** Upper bound of the permissions of a later run. Plain data. */
export interface PermissionBound {
  readonly mode: PermissionMode;
  /** The session's own rules, without those of the settings. */
  readonly rules: RuleSet;
  readonly additionalDirectories: readonly string[];
  /** The only tools of the session; absent: all of them. */
  readonly tools?: readonly string[];
}
