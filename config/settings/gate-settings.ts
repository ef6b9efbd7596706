/**
 * Settings of the gate: rules, approvals, the model of mode "auto", hooks, the sandbox.
 */
import { type ContainmentSettings, mergeContainment } from './containment.ts';
import { type HookSource, hookSources } from './hooks.ts';
import { type ModelSettings, namedModel } from './models.ts';
import { commandLineRules, mergePermissions, type PermissionSettings } from './permissions.ts';
import { readRulesFile } from './rules-file.ts';
import type { PolicyFile, SettingsFile } from './schema.ts';
import { namedSecret } from './secret.ts';
import type { Environment } from './settings-file.ts';

const STRICTNESS = ['off', 'auto', 'required'] as const;

/** The settings of the gate. */
export interface GateSettings {
  readonly permissions: PermissionSettings;
  /** Folders, absolute, whose own settings files may add rules. */
  readonly trustedWorkspaces: readonly string[];
  /** Receivers of questions, and calls that need two people. */
  readonly approvals: ApprovalSettings;
  /** Model that judges commands in mode "auto"; undefined: people do. */
  readonly classifierModel: ModelSettings | undefined;
  /** In the order in which they are weighed: the settings file's, then the policy's. */
  readonly hooks: readonly HookSource[];
  readonly sandbox: SandboxSettings;
  readonly containment: ContainmentSettings;
}

/** Sources of the settings of the gate. */
interface GateSources {
  readonly file: SettingsFile;
  readonly policy: PolicyFile;
  /** Rules of the command line. */
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
    classifierModel: namedModel('permissions.classifierModel', file.permissions?.classifierModel, file, environment),
    hooks: hookSources(file.hooks, policy.hooks),
    sandbox: mergeSandbox(file.sandbox, policy.sandbox),
    containment: mergeContainment(file.containment, policy.containment),
  };
}

/** Settings of questions. The time that they stay open is the limit `askTimeoutMs`. */
interface ApprovalSettings {
  /** Told of each new question; the secret signs what is posted. */
  readonly webhooks: readonly { readonly url: string; readonly secret: string }[];
  /** Rules; a call that one matches needs the yes of two different principals. */
  readonly twoPerson: readonly string[];
}

/** Fill the secrets in. @throws {SettingsError} Where one is not in the environment. */
function approvalSettings(approvals: SettingsFile['approvals'], environment: Environment): ApprovalSettings {
  const webhooks = approvals?.webhooks ?? [];
  return {
    webhooks: webhooks.map(({ url, secretEnv }, index) => ({
      url,
      secret: namedSecret(`approvals.webhooks.${index}.secretEnv`, secretEnv, environment),
    })),
    twoPerson: approvals?.twoPerson ?? [],
  };
}

type SandboxSection = NonNullable<SettingsFile['sandbox']>;

/** Settings of every sandboxed command. */
interface SandboxSettings {
  /** `auto`: in a sandbox where there is one; `required`: or not at all. */
  readonly mode: 'off' | 'auto' | 'required';
  /** Off by default; with several lists, each must include a host. */
  readonly network: 'off' | 'on' | { readonly allow: readonly (readonly string[])[] };
  /** Sandboxed commands run without a question. */
  readonly isAutoAllowed: boolean;
}

/** The settings file's word, which an administrator's policy may tighten and never loosens. */
function mergeSandbox(file: SandboxSection | undefined, policy: SandboxSection | undefined): SandboxSettings {
  const modes = [file?.mode ?? 'off', policy?.mode ?? 'off'];
  const grants = [policy?.autoAllow, file?.autoAllow].filter((grant) => grant !== undefined);
  return {
    mode: STRICTNESS.findLast((mode) => modes.includes(mode)) ?? 'required',
    network: mergeNetworks([policy?.network, file?.network].filter((network) => network !== undefined)),
    isAutoAllowed: grants.length > 0 && grants.every(Boolean),
  };
}

function mergeNetworks(networks: readonly NonNullable<SandboxSection['network']>[]): SandboxSettings['network'] {
  if (networks.length === 0 || networks.includes('off')) return 'off';
  const allow = networks.flatMap((network) => (typeof network === 'object' ? [network.allow] : []));
  return allow.length === 0 ? 'on' : { allow };
}
