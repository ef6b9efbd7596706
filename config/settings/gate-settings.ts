/**
 * What stands between a call and its side effects: rules, approvals, the model of mode "auto", hooks, the sandbox.
 */
import { mergeContainment, type ContainmentSettings } from './containment.ts';
import { approvalSettings, type ApprovalSettings } from './approvals.ts';
import { hookSources, type HookSource } from './hooks.ts';
import { classifierModel, type ModelSettings } from './models.ts';
import { commandLineRules, mergePermissions, type PermissionSettings } from './permissions.ts';
import { readRulesFile } from './rules-file.ts';
import { mergeSandbox, type SandboxSettings } from './sandbox.ts';
import type { PolicyFile, SettingsFile } from './schema.ts';
import type { Environment } from './settings-file.ts';

/** The settings of the gate. */
export interface GateSettings {
  readonly permissions: PermissionSettings;
  /** Folders, absolute, whose own settings files may add rules. */
  readonly trustedWorkspaces: readonly string[];
  /** Who is told of questions, and which calls need two persons. */
  readonly approvals: ApprovalSettings;
  /** What judges commands in mode "auto"; undefined: people do. */
  readonly classifierModel: ModelSettings | undefined;
  /** In the order in which they are weighed: the settings file's, then the policy's. */
  readonly hooks: readonly HookSource[];
  readonly sandbox: SandboxSettings;
  readonly containment: ContainmentSettings;
}

/** Where the settings of the gate come from. */
interface GateSources {
  readonly file: SettingsFile;
  readonly policy: PolicyFile;
  /** Of the command line. */
  readonly rules: unknown;
  /** A file of rules that the command line names: absolute. */
  readonly rulesFile: string | undefined;
}

/**
 * The settings file's, under the policy's.
 *
 * @param resolvePath Makes a directory absolute.
 * @throws {SettingsError} For what contradicts itself, and for a secret that is not in the environment.
 */
export function gateSettings(
  { file, policy, rules, rulesFile }: GateSources,
  environment: Environment,
  resolvePath: (path: string) => string,
): GateSettings {
  const flag = rulesFile === undefined ? undefined : readRulesFile(rulesFile, environment);
  return {
    permissions: mergePermissions(
      { user: file.permissions, policy: policy.permissions, flag, commandLine: commandLineRules(rules) },
      resolvePath,
    ),
    trustedWorkspaces: (file.trustedWorkspaces ?? []).map(resolvePath),
    approvals: approvalSettings(file.approvals, environment),
    classifierModel: classifierModel(file, environment),
    hooks: hookSources(file.hooks, policy.hooks),
    sandbox: mergeSandbox(file.sandbox, policy.sandbox),
    containment: mergeContainment(file.containment, policy.containment),
  };
}
