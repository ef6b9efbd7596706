/**
 * Files that git reads in a repository, read as it would: whatever cannot be read whole or understood is thrown, so that
 * nobody takes it for a file without settings.
 */
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { GauntletError } from '../base/errors.ts';
import { type GitSetting, parseGitConfig } from './git-config.ts';
import { showText } from '../base/hidden-characters.ts';
import { readSmallFile } from './open-checked.ts';
import { resolveRealPath } from './real-path.ts';

const INCLUDE = /^include(?:if\..*)?\.path$/s;

const MAX_CONFIG_BYTES = 1_048_576;
/** As git follows them. */
const MAX_INCLUDE_DEPTH = 10;
export const MAX_CONFIG_FILES = 64;
/** Characters of a setting that a message repeats. */
const SHOWN_CHARS = 80;

/** How many files of settings may still be read. */
export interface ConfigBudget {
  configFiles: number;
}

/** A setting and the file that holds it. */
export interface LocatedSetting extends GitSetting {
  readonly file: string;
}

/** Settings of a file and of those it includes, whatever the condition. @throws {GauntletError} */
export function readSettings(file: string, budget: ConfigBudget, depth = MAX_INCLUDE_DEPTH): readonly LocatedSetting[] {
  const text = readText(file, MAX_CONFIG_BYTES);
  if (text === undefined) return [];
  if (--budget.configFiles < 0) throw unclear(`Cannot read more than ${MAX_CONFIG_FILES} files of settings`);
  const settings = parseGitConfig(text);
  if (!settings) throw unclear(`Cannot understand the settings in "${showText(file)}"`);
  return settings.flatMap((setting) => {
    const { value } = setting;
    const located = { ...setting, file };
    if (!isInclude(setting) || value === undefined) return [located];
    if (depth === 0) throw unclear(`Cannot follow the includes of "${showText(file)}"`);
    return [located, ...readSettings(expandHome(value, dirname(file), file), budget, depth - 1)];
  });
}

/** Whether a setting names another file of settings. */
export function isInclude({ name }: GitSetting): boolean {
  return INCLUDE.test(name);
}

/** The path that a setting spells. @throws {GauntletError} Where only git knows: `~user`, `%(prefix)`, and what later versions add. */
export function expandHome(value: string, folder: string, file: string): string {
  if (/^(?:~[^/]|%\(|:\()/.test(value)) throw unclear(`Cannot follow "${showShort(value)}" in "${showText(file)}"`);
  return value.startsWith('~') ? join(homedir(), value.slice(1)) : resolve(folder, value);
}

/** The real path and what is there. @throws {GauntletError} Where nobody can say where it leads. */
export function realPath(path: string) {
  const found = resolveRealPath(path);
  if ('refusal' in found) throw unclear(`Cannot look at "${showText(path)}": ${showText(found.refusal)}`);
  return found;
}

/** A file as text. @returns undefined where nothing is there. @throws {GauntletError} */
export function readText(path: string, maxBytes: number): string | undefined {
  return readBytes(path, maxBytes)?.toString('utf8');
}

/** A file. @returns undefined where nothing is there. @throws {GauntletError} For all that cannot be read whole. */
export function readBytes(path: string, maxBytes: number): Buffer | undefined {
  const { real, stats } = realPath(path);
  return stats === undefined ? undefined : readSmallFile(real, showText(path), maxBytes);
}

/** What is thrown where the reader cannot tell what git would do. */
export function unclear(message: string): GauntletError {
  return new GauntletError('tool_failed', message);
}

/** A text as a message repeats it. */
export function showShort(text: string): string {
  return showText(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text);
}
