/**
 * Request and response format of each search engine.
 */
import type { WebSearchSettings } from '../../../config/settings/web.ts';

/** A search. */
export interface SearchQuestion {
  readonly query: string;
  /** Domains, with all names below them; empty means any. */
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
  readonly count: number;
}

/** A result as the engine sends it; its texts may contain tags. */
export interface RawResult {
  readonly title: unknown;
  readonly url: unknown;
  readonly snippet: unknown;
}

/** Request and response format of one engine. */
interface Engine {
  request(settings: WebSearchSettings, question: SearchQuestion): { readonly url: URL; readonly init: RequestInit };
  /** Extract the results; undefined if the reply is not one of this engine. */
  results(reply: unknown): readonly RawResult[] | undefined;
}

/** All engines by name. */
export const ENGINES: Readonly<Record<WebSearchSettings['engine'], Engine>> = {
  searxng: {
    request({ baseUrl, apiKey }, question) {
      const url = addressBelow(baseUrl, 'search');
      url.searchParams.set('q', withSites(question));
      url.searchParams.set('format', 'json');
      // Some run behind a proxy that requires a key.
      return apiKey === undefined
        ? { url, init: {} }
        : { url, init: { headers: { authorization: `Bearer ${apiKey}` } } };
    },
    results: (reply) => listOf(record(reply)['results'], 'content'),
  },
  brave: {
    request({ baseUrl, apiKey = '' }, question) {
      const url = addressBelow(baseUrl, 'res/v1/web/search');
      url.searchParams.set('q', withSites(question));
      url.searchParams.set('count', String(Math.min(question.count, 20)));
      return { url, init: { headers: { 'x-subscription-token': apiKey, accept: 'application/json' } } };
    },
    results(reply) {
      const { web, type } = record(reply);
      // The reply of a search without results has no `web`.
      return web === undefined && type === 'search' ? [] : listOf(record(web)['results'], 'description');
    },
  },
  tavily: {
    request({ baseUrl, apiKey = '' }, { query, allowed, blocked, count }) {
      const body = {
        query,
        max_results: Math.min(count, 20),
        ...(allowed.length > 0 && { include_domains: allowed }),
        ...(blocked.length > 0 && { exclude_domains: blocked }),
      };
      return {
        url: addressBelow(baseUrl, 'search'),
        init: {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        },
      };
    },
    results: (reply) => listOf(record(reply)['results'], 'content'),
  },
};

/** Add the domains to the query, with operators that both engines support. */
function withSites({ query, allowed, blocked }: SearchQuestion): string {
  const sites = allowed.map((domain) => `site:${domain}`).join(' OR ');
  const others = blocked.map((domain) => `-site:${domain}`);
  return [query, ...(sites === '' ? [] : [allowed.length > 1 ? `(${sites})` : sites]), ...others].join(' ');
}

function addressBelow(base: string, path: string): URL {
  return new URL(path, base.endsWith('/') ? base : `${base}/`);
}

function listOf(list: unknown, snippet: string): readonly RawResult[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.map(record).map((found) => ({ title: found['title'], url: found['url'], snippet: found[snippet] }));
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
