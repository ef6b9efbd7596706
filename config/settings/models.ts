/**
 * The `models` setting: which model judges commands in mode "auto", with its key filled in.
 */
import { SettingsError } from '../settings-error.ts';
import type { SettingsFile } from './schema.ts';
import { namedSecret } from './secret.ts';
import type { Environment } from './settings-file.ts';

/** How a model is reached. */
export interface ModelSettings {
  readonly provider: 'anthropic' | 'openai';
  /** Without the path of the wire; undefined: the provider's own address. */
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly model: string;
}

/**
 * The model `permissions.classifierModel` names, else the one called `default`.
 *
 * @returns undefined where there is neither.
 * @throws {SettingsError} For a name that is not among `models`, and for a key that is not in the environment.
 */
export function classifierModel(file: SettingsFile, environment: Environment): ModelSettings | undefined {
  const name = file.permissions?.classifierModel ?? 'default';
  const models = file.models ?? {};
  const found = Object.hasOwn(models, name) ? models[name] : undefined;
  if (found) {
    const { provider, baseUrl, apiKey, apiKeyEnv, model } = found;
    const key = apiKeyEnv === undefined ? apiKey : namedSecret(`models.${name}.apiKeyEnv`, apiKeyEnv, environment);
    return { provider, baseUrl, apiKey: key, model };
  }
  if (file.permissions?.classifierModel === undefined) return undefined;
  const key = 'permissions.classifierModel';
  throw new SettingsError(key, `"${key}" names no model; name one of "models"`);
}
