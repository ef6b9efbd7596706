/**
 * The `models` setting: models by name, each with its key, for agents, for mode "auto" and for prompts about web pages.
 */
import { SettingsError } from '../settings-error.ts';
import type { SettingsFile } from './schema.ts';
import { namedSecret } from './secret.ts';
import type { Environment } from './settings-file.ts';

/** Address and credentials of a model. */
export interface ModelSettings {
  readonly provider: 'anthropic' | 'openai';
  /** Without the path of the wire; undefined: the provider's own address. */
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly model: string;
}

const ADDRESSES = { anthropic: 'https://api.anthropic.com/v1', openai: 'https://api.openai.com/v1' } as const;

/** Address of a model, with the version: base addresses are written with and without it. */
export function modelAddress({ provider, baseUrl = ADDRESSES[provider] }: ModelSettings): string {
  const trimmed = baseUrl.replace(/\/+$/, '');
  return trimmed.endsWith('/v1') ? trimmed : `${trimmed}/v1`;
}

/** Name of the model that is used where none is named. */
export const DEFAULT_MODEL = 'default';

/** All models, by name. @throws {SettingsError} For a key that is not in the environment. */
export function modelSettings(
  { models = {} }: Pick<SettingsFile, 'models'>,
  environment: Environment,
): ReadonlyMap<string, ModelSettings> {
  return new Map(
    Object.entries(models).map(([name, { provider, baseUrl, apiKey, apiKeyEnv, model }]) => {
      const key = apiKeyEnv === undefined ? apiKey : namedSecret(`models.${name}.apiKeyEnv`, apiKeyEnv, environment);
      return [name, Object.freeze({ provider, baseUrl, apiKey: key, model })];
    }),
  );
}

/**
 * The model that a setting names, else the one called `default`.
 *
 * @param key The setting, for the message. @param name Its value.
 * @returns undefined if there is neither.
 * @throws {SettingsError} For a name that is not among `models`, and for a key that is not in the environment.
 */
export function namedModel(
  key: string,
  name: string | undefined,
  file: Pick<SettingsFile, 'models'>,
  environment: Environment,
): ModelSettings | undefined {
  const found = modelSettings(file, environment).get(name ?? DEFAULT_MODEL);
  if (found || name === undefined) return found;
  throw new SettingsError(key, `"${key}" names no model; name one of "models"`);
}
