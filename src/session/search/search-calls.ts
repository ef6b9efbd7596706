/**
 * Searches the calls of all sessions of a principal: by the text of their inputs and results, tool, status and files.
 *
 * Every call is found once: where its result matches, else where its input does.
 */
import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GauntletError } from '../../base/errors.ts';
import type { LoggedFrame } from '../../log/frame-log.ts';
import { MAX_TEXTS, type RowScan, type ScannedRow } from '../../log/row-scan.ts';
import type { SessionContext } from '../../tool/session-context.ts';
import type { ResultFrame, ToolUseFrame } from '../../wire/frames.ts';
import { resultText } from '../../wire/result-text.ts';
import type { CallHit, CallHits } from '../../wire/session-replies.ts';
import type { SessionServices } from '../session-services.ts';
import { askedText, snippetAt } from './call-text.ts';

/** Conditions of a search; an absent one matches everything. */
export interface CallQuery {
  /** Words that must all occur, ignoring case; those in double quotes are one. */
  readonly text?: string;
  readonly tool?: string;
  readonly status?: string;
  /** Part of a path in the input. */
  readonly file?: string;
  readonly sessionId?: string;
  readonly limit: number;
  readonly cursor?: string;
}

/** Parts of the server that a search uses. */
export interface SearchSource extends Pick<SessionServices, 'readDenial'> {
  readonly scan: Pick<RowScan, 'slice' | 'near'>;
  /** Return the context of a session. @throws {GauntletError} `not_found`, `forbidden` */
  contextOf(principal: string, sessionId: string): Promise<Pick<SessionContext, 'permissions' | 'root' | 'cwd'>>;
}

/** Time for one page; a cursor leads to the rest. */
const MAX_SEARCH_MS = 1_000;

/** Time that one slice should take: the event loop waits for it. */
const SLICE_MS = 6;

/** Rows of the first slice, and of the largest. */
const FIRST_ROWS = 16;
const MAX_ROWS = 8_192;

/** Searches of all principals that run at once, and those of one. */
const MAX_SEARCHES = 4;
const MAX_OWN_SEARCHES = 2;

/** Search calls, newest first. A page may hold fewer hits than `limit`, or none, and still have a cursor. */
export type SearchCalls = (principal: string, query: CallQuery, signal: AbortSignal) => Promise<CallHits>;

/**
 * Create the search of a log.
 *
 * @throws {GauntletError} From the returned function: `invalid_request` for a malformed cursor, `not_found`, `overloaded`.
 */
export function createCallSearch(source: SearchSource): SearchCalls {
  /** Principals of the searches that run. */
  const running: string[] = [];
  return async function searchCalls(principal, query, signal) {
    const own = running.filter((each) => each === principal).length;
    if (running.length >= MAX_SEARCHES || own >= MAX_OWN_SEARCHES)
      throw new GauntletError('overloaded', 'Too many searches run at once; try again soon');
    running.push(principal);
    try {
      return await searchPage(source, principal, query, signal);
    } finally {
      running.splice(running.indexOf(principal), 1);
    }
  };
}

async function searchPage(
  source: SearchSource,
  principal: string,
  query: CallQuery,
  signal: AbortSignal,
): Promise<CallHits> {
  // A session of another principal is answered like one that does not exist.
  if (query.sessionId !== undefined) await source.contextOf(principal, query.sessionId);
  const words = wordsOf(query.text);
  const texts = textsOf(query, words);
  const hidden = createHidden(source, principal);
  const hits: CallHit[] = [];
  const isOver = timeIsOver(signal);
  const begin = parseCursor(query.cursor);
  let { before } = begin;
  for (let rows = FIRST_ROWS; ;) {
    const sliceMs = performance.now();
    const slice = source.scan.slice({ principal, sessionId: query.sessionId, before, rows, texts });
    for (const row of slice.rows) {
      const found = await hitsOf(row, { source, query, words, hidden });
      const skipped = row.place === begin.place ? begin.skipped : 0;
      const room = query.limit - hits.length;
      hits.push(...found.slice(skipped, skipped + room));
      if (hits.length === query.limit)
        return { hits, next_cursor: `${row.place}.${Math.min(found.length, skipped + room)}` };
      if (await isOver()) return { hits, next_cursor: `${row.place}.0` };
    }
    if (slice.next === undefined) return { hits };
    before = slice.next;
    const tookMs = performance.now() - sliceMs;
    if (tookMs > SLICE_MS) rows = Math.max(1, rows >> 1);
    else if (tookMs < SLICE_MS / 2) rows = Math.min(MAX_ROWS, rows * 2);
    if (await isOver()) return { hits, next_cursor: `${before}.0` };
  }
}

/** Create a function that lets others run for a moment if it is time, and tells whether the page has to end. */
function timeIsOver(signal: AbortSignal): () => Promise<boolean> {
  const endMs = performance.now() + MAX_SEARCH_MS;
  let turnMs = performance.now();
  return async () => {
    if (performance.now() - turnMs > SLICE_MS) {
      await nextTurn();
      turnMs = performance.now();
    }
    return signal.aborted || performance.now() > endMs;
  };
}

interface Matching {
  readonly source: SearchSource;
  readonly query: CallQuery;
  readonly words: readonly string[];
  readonly hidden: Hidden;
}

/** Find the hits of one row, the newest first. */
async function hitsOf({ sessionId, frames }: ScannedRow, matching: Matching): Promise<readonly CallHit[]> {
  const hits: CallHit[] = [];
  for (const logged of frames.toReversed()) {
    if (logged.type !== 'result' && logged.type !== 'tool_use') continue;
    const { frame } = logged;
    if (frame.type !== 'result' && frame.type !== 'tool_use') continue;
    const hit = await hitOf(sessionId, frame, frames, matching);
    if (hit) hits.push(hit);
  }
  return hits;
}

type CallFrame = (ResultFrame | ToolUseFrame) & { readonly seq: number; readonly ts: string };

async function hitOf(
  sessionId: string,
  frame: CallFrame,
  frames: readonly LoggedFrame[],
  { source, query, words, hidden }: Matching,
): Promise<CallHit | undefined> {
  const text = frame.type === 'result' ? resultText(frame.tool_result.content) : askedText(frame.tool_use);
  if (!holdsAll(text, words)) return undefined;
  const call = wholeCall(sessionId, frame, frames, source.scan);
  if (frame.type !== placeOf(call, query, words)) return undefined;
  const { tool_use_id: toolUseId, name = '', status } = call.summary;
  const isWanted =
    (query.tool === undefined || query.tool === name || query.tool === call.asked?.tool_use.name) &&
    (query.status === undefined || query.status === (status ?? 'running')) &&
    (query.file === undefined || pathsIn(call.asked).some((path) => contains(path, query.file ?? '')));
  if (!isWanted || (await hidden(sessionId, call.asked))) return undefined;
  const shown = words[0] === undefined && call.asked ? askedText(call.asked.tool_use) : text;
  const excerpt = snippetAt(shown, Math.max(0, shown.toLowerCase().indexOf(words[0] ?? '')), words[0]?.length ?? 0);
  const place = { session_id: sessionId, seq: frame.seq, ts: frame.ts, tool_use_id: toolUseId, name };
  return { ...place, ...(status && { status }), matched: frame.type === 'result' ? 'result' : 'call', excerpt };
}

/** Return the frame at which a call is found: its result if that matches, unless files alone are searched for. */
function placeOf({ result }: WholeCall, { file }: CallQuery, words: readonly string[]): CallFrame['type'] {
  if (words.length === 0 && file !== undefined) return 'tool_use';
  return result && holdsAll(resultText(result.tool_result.content), words) ? 'result' : 'tool_use';
}

interface WholeCall {
  readonly asked?: ToolUseFrame;
  readonly result?: ResultFrame;
  readonly summary: { readonly tool_use_id: string; readonly name?: string; readonly status?: CallHit['status'] };
}

/** Find both frames of a call, in its row or near it. */
function wholeCall(
  sessionId: string,
  frame: CallFrame,
  frames: readonly LoggedFrame[],
  scan: SearchSource['scan'],
): WholeCall {
  const isResult = frame.type === 'result';
  const id = isResult ? frame.tool_use_id : frame.tool_use.id;
  const isOther = ({ type, frame: other }: LoggedFrame) =>
    isResult
      ? type === 'tool_use' && other.type === 'tool_use' && other.tool_use.id === id
      : type === 'result' && other.type === 'result' && other.tool_use_id === id;
  const texts = [JSON.stringify(id), `"type":"${isResult ? 'tool_use' : 'result'}"`];
  const near = () => scan.near(sessionId, frame.seq, texts, !isResult);
  const other = (frames.find(isOther) ?? near().find(isOther))?.frame;
  const asked = isResult ? other : frame;
  const result = isResult ? frame : other;
  return {
    ...(asked?.type === 'tool_use' && { asked }),
    ...(result?.type === 'result' && { result }),
    summary:
      result?.type === 'result'
        ? { tool_use_id: id, name: result.call.name, status: result.call.status }
        : { tool_use_id: id, ...(asked?.type === 'tool_use' && { name: asked.tool_use.name }) },
  };
}

/** Returns true if a deny rule of the session hides a file that the call names. */
type Hidden = (sessionId: string, asked: ToolUseFrame | undefined) => Promise<boolean>;

function createHidden(source: SearchSource, principal: string): Hidden {
  const denials = new Map<string, Promise<(path: string) => boolean>>();
  async function denialOf(sessionId: string): Promise<(path: string) => boolean> {
    const { permissions, root, cwd } = await source.contextOf(principal, sessionId);
    const isDenied = source.readDenial(permissions, root);
    return (path) => isDenied(resolve(cwd, path));
  }
  return async (sessionId, asked) => {
    const paths = pathsIn(asked);
    if (paths.length === 0) return false;
    const denial = denials.get(sessionId) ?? denialOf(sessionId);
    denials.set(sessionId, denial);
    try {
      return paths.some(await denial);
    } catch (error) {
      // Removed meanwhile, or outside the principal's folders by now.
      if (error instanceof GauntletError) return true;
      throw error;
    }
  };
}

/** Return the values of the input's fields that are paths by their name. */
function pathsIn(asked: ToolUseFrame | undefined): readonly string[] {
  const { input } = asked?.tool_use ?? {};
  if (typeof input !== 'object' || input === null) return [];
  return Object.entries(input).flatMap(([key, value]) =>
    /(^|_)path$/.test(key) && typeof value === 'string' ? [value] : [],
  );
}

function contains(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

function holdsAll(text: string, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

function wordsOf(text = ''): readonly string[] {
  const words = [...text.matchAll(/"([^"]+)"|\S+/g)].map(([word, quoted]) => (quoted ?? word).toLowerCase());
  return [...new Set(words)].slice(0, MAX_TEXTS - 3);
}

/** Texts that every row with a hit holds; frames are parsed only in such rows. */
function textsOf({ tool, status, file }: CallQuery, words: readonly string[]): readonly string[] {
  const isSettled = status !== undefined && status !== 'running';
  const texts =
    words.length > 0
      ? [...words.map(inJson), ...(tool === undefined ? [] : [inJson(tool)])]
      : file !== undefined
        ? ['"type":"tool_use"', inJson(file)]
        : [
            ...(isSettled ? [`"status":"${status}"`] : []),
            ...(tool === undefined ? [] : [`"name":"${inJson(tool)}"`]),
            ...(isSettled || tool !== undefined ? [] : ['"type":"result"']),
          ];
  return texts.map(longestAscii).filter((text) => text !== '');
}

/** The word as JSON spells it. */
function inJson(word: string): string {
  return JSON.stringify(word).slice(1, -1);
}

/** Return what SQLite can compare while it ignores case, which it does for ASCII alone. */
function longestAscii(text: string): string {
  const runs = text.toLowerCase().split(/[^\0-\x7f]+/);
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}

interface Begin {
  readonly before?: number;
  /** Row whose first hits were in the page before. */
  readonly place?: number;
  readonly skipped: number;
}

function parseCursor(cursor: string | undefined): Begin {
  if (cursor === undefined) return { skipped: 0 };
  const [, place, skipped] = /^(\d{1,15})\.(\d{1,5})$/.exec(cursor) ?? [];
  if (Number(skipped) > 0) return { before: Number(place) + 1, place: Number(place), skipped: Number(skipped) };
  if (place !== undefined) return { before: Number(place), skipped: 0 };
  throw new GauntletError('invalid_request', 'Cannot search: "cursor" is malformed. Begin without one', {
    details: { path: 'cursor' },
  });
}
