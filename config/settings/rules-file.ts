/**
 * A file of rules that the command line names: `gauntlet serve --settings FILE`.
 */
import type * as z from 'zod';
import { SettingsError } from '../settings-error.ts';
import { checked } from './explain.ts';
import { workspaceFileSchema } from './rule-schemas.ts';
import { readSettingsFile, type Environment } from './settings-file.ts';

/** Schema of such a file: rules and folders, as in the settings of a trusted folder. */
export type RulesFile = NonNullable<z.output<typeof workspaceFileSchema>['permissions']>;

/** Read the file. @param path Absolute. @throws {SettingsError} If it is not there, or says anything else. */
export function readRulesFile(path: string, environment: Environment): RulesFile | undefined {
  const value = readSettingsFile('--settings', path, environment);
  if (value === undefined) throw new SettingsError('--settings', `--settings: there is no file "${path}"; create it`);
  return checked(workspaceFileSchema, value, ` in "${path}"`).permissions;
}
