/**
 * The `sandbox` setting: whether commands run in a sandbox, and what they may do in it.
 */
import type { SettingsFile } from './schema.ts';

type SandboxSection = NonNullable<SettingsFile['sandbox']>;

/** What holds for every sandboxed command. */
export interface SandboxSettings {
  /** `auto`: in a sandbox where there is one; `required`: or not at all. */
  readonly mode: 'off' | 'auto' | 'required';
  /** Off unless somebody turned it on. */
  readonly hasNetwork: boolean;
  /** What runs in the sandbox runs without a question. */
  readonly isAutoAllowed: boolean;
}

const STRICTNESS = ['off', 'auto', 'required'] as const;

/** The settings file's word, which an administrator's policy may tighten and never loosens. */
export function mergeSandbox(file: SandboxSection | undefined, policy: SandboxSection | undefined): SandboxSettings {
  const modes = [file?.mode ?? 'off', policy?.mode ?? 'off'];
  const networks = [policy?.network, file?.network].filter((network) => network !== undefined);
  const grants = [policy?.autoAllow, file?.autoAllow].filter((grant) => grant !== undefined);
  return {
    mode: STRICTNESS.findLast((mode) => modes.includes(mode)) ?? 'required',
    hasNetwork: networks.length > 0 && networks.every((network) => network === 'on'),
    isAutoAllowed: grants.length > 0 && grants.every(Boolean),
  };
}
