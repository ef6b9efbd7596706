/** Queries the search engine, and filters its results. */
import { domainToASCII } from 'node:url';
import { parseAuthority } from '../../../config/authority.ts';
import type { WebSearchSettings } from '../../../config/settings/web.ts';
import { boundedText, cutText } from '../../../src/base/cut-text.ts';
import { GauntletError, isGauntletError } from '../../../src/base/errors.ts';
import { parseSafeJson } from '../../../src/base/json.ts';
import { ENGINES, type RawResult, type SearchQuestion } from './engines.ts';

/** One result. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** Results of a search. */
export interface WebSearchOutput {
  readonly query: string;
  readonly results: readonly SearchResult[];
  readonly durationMs: number;
}

/** Reply of a search engine; 20 results take some 20 KiB. */
const MAX_REPLY_BYTES = 4 * 1_024 * 1_024;

const MAX_RESULTS = 20;

/** Text of one result. */
const MAX_SNIPPET_CHARS = 500;

/** Bounds of a search. */
export interface SearchBounds {
  /** Time for the reply of the engine. */
  readonly answerMs: number;
}

/** Normalize a domain for comparison. @returns undefined for anything else. */
export function readDomain(text: string): string | undefined {
  const name = text.trim().replace(/^\*\./, '').replace(/\.$/, '');
  const authority = parseAuthority(/[^ -~]/.test(name) ? domainToASCII(name) : name.toLowerCase());
  return authority?.port === undefined ? authority?.host : undefined;
}

/**
 * Search.
 *
 * @throws {GauntletError} `timeout`, and `tool_failed` if the engine refuses or sends no valid reply; never with its key.
 */
export async function runWebSearch(
  settings: WebSearchSettings,
  question: Omit<SearchQuestion, 'count'>,
  bounds: SearchBounds,
  signal: AbortSignal,
): Promise<WebSearchOutput> {
  const startedMs = performance.now();
  const reply = await ask(settings, { ...question, count: MAX_RESULTS }, bounds, signal);
  const found = ENGINES[settings.engine].results(reply);
  if (found === undefined) throw failure('its reply is not in the format of this engine', 'Tell the operator');
  const results = found
    .flatMap((raw) => readResult(raw))
    // An engine may ignore the domains that it was sent.
    .filter(({ url }) => isWanted(url, question))
    .slice(0, MAX_RESULTS);
  return { query: question.query, results, durationMs: Math.round(performance.now() - startedMs) };
}

async function ask(
  settings: WebSearchSettings,
  question: SearchQuestion,
  { answerMs }: SearchBounds,
  signal: AbortSignal,
): Promise<unknown> {
  const { url, init } = ENGINES[settings.engine].request(settings, question);
  const deadline = AbortSignal.timeout(answerMs);
  try {
    // The key must not follow a redirect to another address.
    const reply = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.any([signal, deadline]) });
    if (!reply.ok) {
      await reply.body?.cancel();
      throw refusedWith(reply.status, settings);
    }
    const text = await boundedText(reply, MAX_REPLY_BYTES);
    if (text === undefined) throw failure('its reply is too long', 'Search for something narrower');
    return parseReply(text);
  } catch (cause) {
    signal.throwIfAborted();
    if (isGauntletError(cause)) throw cause;
    if (deadline.aborted) {
      const message = `Cannot search: the search engine gave no answer within ${answerMs / 1_000} s. Try again later`;
      throw new GauntletError('timeout', message, { cause });
    }
    // The message of the cause may contain the address, which may contain secrets.
    throw new GauntletError('tool_failed', 'Cannot search: the search engine cannot be reached. Try again later', {
      cause,
    });
  }
}

function parseReply(text: string): unknown {
  try {
    return parseSafeJson(text, "the search engine's reply");
  } catch (cause) {
    throw new GauntletError(
      'tool_failed',
      'Cannot search: the reply of the search engine is no JSON. Tell the operator',
      {
        cause,
      },
    );
  }
}

function refusedWith(status: number, { engine }: WebSearchSettings): GauntletError {
  if (status === 429) return failure('it was asked too often', 'Wait a minute before the next search');
  if (status === 403 && engine === 'searxng') {
    return failure('it refuses (403)', 'The operator must allow the format "json" in the settings of SearXNG');
  }
  if (status === 401 || status === 403) return failure(`it refuses the key (${status})`, 'Tell the operator');
  if (status === 400 || status === 422) return failure(`it refuses the query (${status})`, 'Use a plainer query');
  return failure(`it answers with status ${status}`, 'Try again later');
}

function failure(why: string, advice: string): GauntletError {
  return new GauntletError('tool_failed', `Cannot search with the search engine: ${why}. ${advice}`);
}

/** @returns An empty list if the address is not one of the web. */
function readResult({ title, url, snippet }: RawResult): readonly SearchResult[] {
  if (typeof url !== 'string' || !URL.canParse(url)) return [];
  const { protocol, href } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return [];
  return [{ title: plainText(title) || href, url: href, snippet: plainText(snippet) }];
}

function isWanted(url: string, { allowed, blocked }: Pick<SearchQuestion, 'allowed' | 'blocked'>): boolean {
  const host = new URL(url).hostname.replace(/\.$/, '');
  const isIn = (domains: readonly string[]) => domains.some((each) => host === each || host.endsWith(`.${each}`));
  return (allowed.length === 0 || isIn(allowed)) && !isIn(blocked);
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  '#x27': "'",
  nbsp: ' ',
};

/** Reduce a text to one line without tags and invisible characters. */
function plainText(value: unknown): string {
  if (typeof value !== 'string') return '';
  const bounded = cutText(value, 10 * MAX_SNIPPET_CHARS)
    .replace(/<\/?[a-z][^<>]{0,200}>/gi, '')
    .replace(/&(amp|lt|gt|quot|#39|#x27|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(/[\p{Cf}\p{Cs}]/gu, '')
    .trim();
  return bounded.length > MAX_SNIPPET_CHARS ? `${cutText(bounded, MAX_SNIPPET_CHARS - 1)}…` : bounded;
}
