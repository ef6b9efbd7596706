/** Services that the web tools receive. */
import type { Limits } from '../../config/limits.ts';
import type { WebFetchSettings, WebSearchSettings } from '../../config/settings/web.ts';
import type { Lookup } from '../../src/process/proxy/lookup.ts';

/** Services of WebFetch and WebSearch. */
export interface WebToolServices {
  readonly limits: Pick<Limits, 'previewChars'>;
  readonly webFetch: WebFetchSettings;
  /** Absent without a search engine. */
  readonly webSearch?: WebSearchSettings | undefined;
  /** Default: the resolver of the machine. */
  readonly lookup?: Lookup;
}
