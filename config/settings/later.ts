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

const LATER: readonly LaterSetting[] = [{ key: 'readUnchanged', isUsed: (file) => file.readUnchanged === 'stub' }];

/** Keys that are present in a file and have no effect. */
export function unusedKeys(file: SettingsFile): readonly string[] {
  return LATER.filter((setting) => setting.isUsed(file)).map((setting) => setting.key);
}
