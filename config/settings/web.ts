/**
 * The settings `webFetch` and `webSearch`: hosts that pages may be fetched from, the model that answers questions about
 * pages, and the search engine.
 */
import { SettingsError } from '../settings-error.ts';
import { namedModel, type ModelSettings } from './models.ts';
import type { SettingsFile } from './schema.ts';
import { namedSecret } from './secret.ts';
import type { Environment } from './settings-file.ts';

type SearchEngineName = NonNullable<SettingsFile['webSearch']>['engine'];

/** Settings of WebFetch. */
export interface WebFetchSettings {
  /** Hosts, each with or without a port, that may be fetched although their addresses are not public. */
  readonly allowPrivate: readonly string[];
  /** Model that answers prompts about pages; undefined: none does. */
  readonly model: ModelSettings | undefined;
}

/** Address and key of the search engine. */
export interface WebSearchSettings {
  readonly engine: SearchEngineName;
  /** Without the path of the engine's API. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/** Default addresses. SearXNG has none: each one is self-hosted. */
const PUBLIC_ADDRESSES: Readonly<Record<SearchEngineName, string | undefined>> = {
  searxng: undefined,
  brave: 'https://api.search.brave.com',
  tavily: 'https://api.tavily.com',
};

/** Read `webFetch`. @throws {SettingsError} For a model that is not among `models`. */
export function webFetchSettings(file: SettingsFile, environment: Environment): WebFetchSettings {
  return {
    allowPrivate: file.webFetch?.allowPrivate ?? [],
    model: namedModel('webFetch.model', file.webFetch?.model, file, environment),
  };
}

/**
 * Read `webSearch`.
 *
 * @returns undefined if no engine is set.
 * @throws {SettingsError} For SearXNG without an address, and for another engine without a key.
 */
export function webSearchSettings(file: SettingsFile, environment: Environment): WebSearchSettings | undefined {
  const { webSearch: found } = file;
  if (found === undefined) return undefined;
  const { engine, apiKeyEnv } = found;
  const apiKey = apiKeyEnv === undefined ? found.apiKey : namedSecret('webSearch.apiKeyEnv', apiKeyEnv, environment);
  const baseUrl = found.baseUrl ?? PUBLIC_ADDRESSES[engine];
  if (baseUrl === undefined) {
    throw new SettingsError('webSearch.baseUrl', `"webSearch.baseUrl" is missing: name the address of your SearXNG`);
  }
  if (engine !== 'searxng' && apiKey === undefined) {
    const message = `"webSearch.apiKeyEnv" is missing: name the variable that holds the key of ${engine}`;
    throw new SettingsError('webSearch.apiKeyEnv', message);
  }
  return { engine, baseUrl, apiKey };
}
