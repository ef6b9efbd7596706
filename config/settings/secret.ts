/**
 * Secrets that a settings file names instead of holding them.
 */
import { SettingsError } from '../settings-error.ts';
import type { Environment } from './settings-file.ts';

/**
 * The secret in an environment variable.
 *
 * @param key The setting that names it, for the error.
 * @throws {SettingsError} Where the variable is not set or empty.
 */
export function namedSecret(key: string, name: string, environment: Environment): string {
  const secret = environment[name];
  if (secret) return secret;
  throw new SettingsError(key, `"${key}": the environment variable ${name} is not set; set it, or name another one`);
}
