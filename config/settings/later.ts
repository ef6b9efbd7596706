/**
 * Settings that are checked but not acted on by this version, in one place.
 *
 * None guards anything: each only leaves a feature out, and is named once in a warning. A version that
 * brings a feature removes its line.
 */
import type { SettingsFile } from './schema.ts';

interface LaterSetting {
  readonly key: string;
  readonly isUsed: (file: SettingsFile) => boolean;
}

const LATER: readonly LaterSetting[] = [
  // Models are for the classifier of mode "auto" so far.
  {
    key: 'models',
    isUsed: (file) =>
      !isEmpty(file.models) && !file.models?.['default'] && file.permissions?.classifierModel === undefined,
  },
  { key: 'webSearch', isUsed: (file) => file.webSearch !== undefined },
  { key: 'webFetch', isUsed: (file) => !isEmpty(file.webFetch) },
  { key: 'readUnchanged', isUsed: (file) => file.readUnchanged === 'stub' },
  { key: 'lsp', isUsed: (file) => !isEmpty(file.lsp) },
  { key: 'agents', isUsed: (file) => !isEmpty(file.agents) },
  { key: 'skills', isUsed: (file) => !isEmpty(file.skills) },
];

/** Keys that are present in a file and have no effect. */
export function unusedKeys(file: SettingsFile): readonly string[] {
  return LATER.filter((setting) => setting.isUsed(file)).map((setting) => setting.key);
}

function isEmpty(value: object | undefined): boolean {
  return value === undefined || Object.keys(value).length === 0;
}
