/**
 * Settings that are checked but not acted on by this version, in one place.
 *
 * One that guards something refuses the start, since whoever wrote it relies on it. The others only
 * leave a feature out, and are named once in a warning. A version that brings a feature removes its line.
 */
import { SettingsError } from '../settings-error.ts';
import type { SettingsFile } from './schema.ts';

interface LaterSetting {
  readonly key: string;
  /** True: without it something would run that should not. */
  readonly isGuard: boolean;
  readonly isUsed: (file: SettingsFile) => boolean;
}

const LATER: readonly LaterSetting[] = [
  { key: 'sandbox.network.allow', isGuard: true, isUsed: (file) => typeof file.sandbox?.network === 'object' },
  // Models are for the classifier of mode "auto" so far.
  {
    key: 'models',
    isGuard: false,
    isUsed: (file) =>
      !isEmpty(file.models) && !file.models?.['default'] && file.permissions?.classifierModel === undefined,
  },
  { key: 'webSearch', isGuard: false, isUsed: (file) => file.webSearch !== undefined },
  { key: 'webFetch', isGuard: false, isUsed: (file) => !isEmpty(file.webFetch) },
  { key: 'lsp', isGuard: false, isUsed: (file) => !isEmpty(file.lsp) },
  { key: 'agents', isGuard: false, isUsed: (file) => !isEmpty(file.agents) },
  { key: 'skills', isGuard: false, isUsed: (file) => !isEmpty(file.skills) },
  { key: 'trustedWorkspaces', isGuard: false, isUsed: (file) => !isEmpty(file.trustedWorkspaces) },
];

/**
 * Refuse guards this version cannot keep.
 *
 * @param name What to call the file in the error: `GAUNTLET_CONFIG` or `GAUNTLET_POLICY`.
 * @returns Keys that are present and have no effect.
 * @throws {SettingsError} If a setting that guards is present.
 */
export function refuseUnsupported(name: string, file: SettingsFile): readonly string[] {
  const used = LATER.filter((setting) => setting.isUsed(file));
  const guard = used.find((setting) => setting.isGuard);
  if (guard) {
    const why = 'not supported by this version, and without it calls would run that you meant to hold back';
    throw new SettingsError(guard.key, `"${guard.key}" in ${name} is ${why}; remove it to start`);
  }
  return used.map((setting) => setting.key);
}

function isEmpty(value: object | undefined): boolean {
  return value === undefined || Object.keys(value).length === 0;
}
