/**
 * Rules and modes from the settings file and the policy, by source.
 */
import { SettingsError } from '../settings-error.ts';
import type { SettingsFile } from './schema.ts';

type PermissionSection = NonNullable<SettingsFile['permissions']>;

/** Rules as people write them: `Tool` or `Tool(what)`. */
type Rules = Pick<PermissionSection, 'allow' | 'ask' | 'deny'>;

/** What every session starts from. */
export interface PermissionSettings {
  /** Only sources that hold rules are present. */
  readonly rules: { readonly policySettings?: Rules; readonly userSettings?: Rules };
  readonly defaultMode: NonNullable<PermissionSection['defaultMode']>;
  /** Absolute; need not exist. */
  readonly additionalDirectories: readonly string[];
  /** False where a settings file says `disableBypassPermissionsMode`. */
  readonly isBypassAvailable: boolean;
}

/**
 * The settings file's permissions under the policy's.
 *
 * @param resolvePath Makes a directory absolute.
 * @throws {SettingsError} If the default mode is the one that is disabled.
 */
export function mergePermissions(
  user: PermissionSection | undefined,
  policy: PermissionSection | undefined,
  resolvePath: (path: string) => string,
): PermissionSettings {
  const isBypassAvailable = !user?.disableBypassPermissionsMode && !policy?.disableBypassPermissionsMode;
  const defaultMode = policy?.defaultMode ?? user?.defaultMode ?? 'default';
  if (defaultMode === 'bypassPermissions' && !isBypassAvailable) {
    const key = 'permissions.defaultMode';
    const why = 'is "bypassPermissions", which "disableBypassPermissionsMode" disables; choose another mode';
    throw new SettingsError(key, `"${key}" ${why}`);
  }
  return {
    rules: {
      ...(hasRules(policy) && { policySettings: rulesOf(policy) }),
      ...(hasRules(user) && { userSettings: rulesOf(user) }),
    },
    defaultMode,
    additionalDirectories: [...(policy?.additionalDirectories ?? []), ...(user?.additionalDirectories ?? [])].map(
      resolvePath,
    ),
    isBypassAvailable,
  };
}

function hasRules(section: PermissionSection | undefined): section is PermissionSection {
  return section !== undefined && section.allow.length + section.ask.length + section.deny.length > 0;
}

function rulesOf({ allow, ask, deny }: PermissionSection): Rules {
  return { allow, ask, deny };
}
