/**
 * Reads the settings files of trusted folders: a project's rules, read once when a session begins.
 *
 * Only folders that the server's settings list as trusted are read.
 */
import { dirname, join, resolve } from 'node:path';
import { SETTINGS_FILE_BYTES } from '../../../config/limits.ts';
import { SettingsError } from '../../../config/settings-error.ts';
import { checked } from '../../../config/settings/explain.ts';
import { workspaceFileSchema } from '../../../config/settings/rule-schemas.ts';
import { parseSettingsText } from '../../../config/settings/settings-file.ts';
import { GauntletError, isGauntletError } from '../../base/errors.ts';
import type { RuleSet, WorkspaceSettings } from '../../wire/permission-context.ts';
import { readSmallFile } from '../../files/open-checked.ts';
import { resolveRealPath } from '../../files/real-path.ts';
import { foldersAround, realFolders } from '../../files/real-folders.ts';
import { parseRule } from '../../permissions/rule.ts';

/** Settings files of a folder, by the source of their rules. */
const FILES = {
  projectSettings: '.gauntlet/settings.json',
  localSettings: '.gauntlet/settings.local.json',
} as const satisfies Record<WorkspaceSettings['source'], string>;

/**
 * Read the settings files of trusted folders that apply to a session.
 *
 * @param trusted Absolute paths; for links, the target is trusted.
 * @param cwd Real path of the session's folder; the files of every trusted folder that contains it apply.
 * @throws {GauntletError} `invalid_request` with the file, the key and what was expected.
 */
export function workspaceSettings(trusted: readonly string[], cwd: string): readonly WorkspaceSettings[] {
  return foldersAround(trusted, cwd).flatMap((folder) =>
    SOURCES.flatMap((source) => readSettings(folder, source) ?? []),
  );
}

/** Additions of workspace settings to a permission context. */
export interface WorkspaceRules {
  readonly rules: Partial<Record<WorkspaceSettings['source'], RuleSet>>;
  readonly directories: readonly string[];
  /** Folders added only by settings that are no longer trusted. */
  readonly lostDirectories: readonly string[];
}

/**
 * Filter the settings with which a session began: a folder that is no longer trusted grants nothing, but its ask and
 * deny rules still apply. Settings of several folders are combined.
 */
export function trustedRules(trusted: readonly string[], settings: readonly WorkspaceSettings[]): WorkspaceRules {
  const folders = new Set(settings.length === 0 ? [] : realFolders(trusted));
  const isTrusted = ({ folder }: WorkspaceSettings) => folders.has(folder);
  const rules: Partial<Record<WorkspaceSettings['source'], RuleSet>> = {};
  for (const source of SOURCES) {
    const own = settings.filter((each) => each.source === source);
    if (own.length === 0) continue;
    rules[source] = {
      allow: own.filter(isTrusted).flatMap(({ allow }) => allow),
      ask: own.flatMap(({ ask }) => ask),
      deny: own.flatMap(({ deny }) => deny),
    };
  }
  const directoriesOf = (some: readonly WorkspaceSettings[]) => some.flatMap((each) => each.additional_directories);
  return {
    rules,
    directories: directoriesOf(settings.filter(isTrusted)),
    lostDirectories: directoriesOf(settings.filter((each) => !isTrusted(each))),
  };
}

const SOURCES = Object.keys(FILES) as readonly WorkspaceSettings['source'][];

function readSettings(folder: string, source: WorkspaceSettings['source']): WorkspaceSettings | undefined {
  const path = join(folder, FILES[source]);
  try {
    const text = textOf(folder, path);
    return text === undefined ? undefined : settingsIn(folder, source, text);
  } catch (error) {
    if (!(error instanceof SettingsError) && !isGauntletError(error)) throw error;
    const message = `Cannot begin a session in "${folder}", which is trusted: ${error.message}`;
    throw new GauntletError('invalid_request', message, { details: { reason: 'workspace_settings' }, cause: error });
  }
}

function textOf(folder: string, path: string): string | undefined {
  const found = resolveRealPath(path);
  if ('refusal' in found) throw unusable(path, found.refusal);
  if (!found.stats) return undefined;
  if (dirname(dirname(found.real)) !== folder) throw unusable(path, 'it is a link that leads out of its folder');
  const bytes = readSmallFile(found.real, path, SETTINGS_FILE_BYTES);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw unusable(path, 'it is not UTF-8', error);
  }
}

/**
 * Parse a settings file. Unlike in the server's own settings, variables are not expanded: their values are not for the
 * project to read.
 */
function settingsIn(folder: string, source: WorkspaceSettings['source'], text: string): WorkspaceSettings {
  const path = join(folder, FILES[source]);
  const { permissions } = checked(workspaceFileSchema, parseSettingsText('The file', path, text), ` in "${path}"`);
  const { allow = [], ask = [], deny = [], additionalDirectories = [] } = permissions ?? {};
  for (const [behavior, rules] of Object.entries({ allow, ask, deny })) {
    for (const [place, rule] of rules.entries()) checkRule(rule, `permissions.${behavior}.${place}`, path);
  }
  const additional_directories = additionalDirectories.map((directory) => resolve(folder, directory));
  return { source, folder, allow, ask, deny, additional_directories };
}

function checkRule(rule: string, key: string, path: string): void {
  try {
    parseRule(rule);
  } catch (error) {
    if (!isGauntletError(error)) throw error;
    throw new GauntletError('invalid_request', `"${key}" in "${path}": ${error.message}`, { cause: error });
  }
}

function unusable(path: string, why: string, cause?: unknown): GauntletError {
  return new GauntletError('invalid_request', `Cannot read "${path}": ${why}`, { cause });
}
