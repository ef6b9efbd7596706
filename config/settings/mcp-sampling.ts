/** The setting `mcpSampling`: the model that answers requests of MCP servers. */
import { SettingsError } from '../settings-error.ts';
import { DEFAULT_MODEL, namedModel, type ModelSettings } from './models.ts';
import type { SettingsFile } from './schema.ts';
import type { Environment } from './settings-file.ts';

/** Longest answer where none is set, in tokens. */
const DEFAULT_TOKENS = 4_096;

/** Settings of sampling. */
export interface McpSamplingSettings {
  /** Name of the model, for the person who is asked. */
  readonly name: string;
  readonly model: ModelSettings;
  readonly maxTokens: number;
}

/** Read `mcpSampling`. @returns undefined if it is off. @throws {SettingsError} If there is no such model. */
export function mcpSamplingSettings(file: SettingsFile, environment: Environment): McpSamplingSettings | undefined {
  if (file.mcpSampling === undefined) return undefined;
  const { model: name, maxTokens = DEFAULT_TOKENS } = file.mcpSampling;
  const model = namedModel('mcpSampling.model', name, file, environment);
  if (model !== undefined) return { name: name ?? DEFAULT_MODEL, model, maxTokens };
  const message = `"mcpSampling.model" is missing, and no model is called "${DEFAULT_MODEL}"; name one of "models"`;
  throw new SettingsError('mcpSampling.model', message);
}
