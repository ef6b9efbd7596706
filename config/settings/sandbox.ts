/**
 * The `sandbox` setting: whether commands run in a sandbox, and what they may do in it.
 */
import type { SettingsFile } from './schema.ts';

type SandboxSection = NonNullable<SettingsFile['sandbox']>;

/** What holds for every sandboxed command. */
export interface SandboxSettings {
  /** `auto`: in a sandbox where there is one; `required`: or not at all. */
  readonly mode: 'off' | 'auto' | 'required';
  /** Off unless somebody opened it; of several lists each must cover a host. */
  readonly network: 'off' | 'on' | { readonly allow: readonly (readonly string[])[] };
  /** What runs in the sandbox runs without a question. */
  readonly isAutoAllowed: boolean;
}

const STRICTNESS = ['off', 'auto', 'required'] as const;

/** The settings file's word, which an administrator's policy may tighten and never loosens. */
export function mergeSandbox(file: SandboxSection | undefined, policy: SandboxSection | undefined): SandboxSettings {
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
