/**
 * Rules and modes from the settings file and the policy, by source.
 */
import { SettingsError } from '../settings-error.ts';
import { checked } from './explain.ts';
import { ruleLists } from './rule-schemas.ts';
import type { RulesFile } from './rules-file.ts';
import type { SettingsFile } from './schema.ts';

type PermissionSection = NonNullable<SettingsFile['permissions']>;

/** Rules as people write them: `Tool` or `Tool(what)`. */
type Rules = Pick<PermissionSection, 'allow' | 'ask' | 'deny'>;

/** Permissions that every session starts with. */
export interface PermissionSettings {
  /** Only sources that hold rules are present. */
  readonly rules: {
    readonly policySettings?: Rules;
    readonly userSettings?: Rules;
    readonly flagSettings?: Rules;
    readonly cliArg?: Rules;
  };
  readonly defaultMode: NonNullable<PermissionSection['defaultMode']>;
  /** Absolute; need not exist. */
  readonly additionalDirectories: readonly string[];
  /** False where a settings file says `disableBypassPermissionsMode`. */
  readonly isBypassAvailable: boolean;
}

/** Check the rules of the command line. @throws {SettingsError} With the option that holds none. */
export function commandLineRules(rules: unknown): Rules {
  return checked(ruleLists, rules, '', ([option]) => `--${String(option)}`);
}

/** Sources of permissions. */
export interface PermissionSources {
  readonly user: PermissionSection | undefined;
  readonly policy: PermissionSection | undefined;
  /** The file that `--settings` names. */
  readonly flag: RulesFile | undefined;
  readonly commandLine: Rules;
}

/**
 * The settings file's permissions and those of the command line, under the policy's.
 *
 * @param resolvePath Makes a directory absolute.
 * @throws {SettingsError} If the default mode is the one that is disabled.
 */
export function mergePermissions(
  { user, policy, flag, commandLine }: PermissionSources,
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
      ...(hasRules(flag) && { flagSettings: rulesOf(flag) }),
      ...(hasRules(commandLine) && { cliArg: commandLine }),
    },
    defaultMode,
    additionalDirectories: [policy, user, flag]
      .flatMap((section) => section?.additionalDirectories ?? [])
      .map(resolvePath),
    isBypassAvailable,
  };
}

function hasRules<Section extends Rules>(rules: Section | undefined): rules is Section {
  return rules !== undefined && rules.allow.length + rules.ask.length + rules.deny.length > 0;
}

function rulesOf({ allow, ask, deny }: Rules): Rules {
  return { allow, ask, deny };
}
