/**
 * Results after they left: their whole text by range, and a search over what they showed.
 */
import { resultText, type ToolUseBlock } from '../../wire/blocks.ts';
import { GauntletError } from '../../base/errors.ts';
import type { ResultFrame, Seq } from '../../wire/frames.ts';
import { loggedFrame } from './logged-frame.ts';
import { noLongerKept } from '../restore/recalled-block.ts';
import type { SessionCore } from '../session-core.ts';
import type { TextRange } from '../session-services.ts';

export type { TextRange } from '../session-services.ts';

/** A part of a result's text, or of a task's output, in wire shape. */
export interface ResultTextPage {
  readonly text: string;
  readonly total_chars: number;
  readonly offset_chars: number;
  /** Absent at the end. */
  readonly next_offset_chars?: number;
}

/** A call whose text matched, in wire shape. */
export interface SearchHit {
  readonly seq: Seq;
  readonly tool_use_id: string;
  readonly snippet: string;
}

/** Characters shown on each side of a match. */
const SNIPPET_CHARS = 60;

/**
 * The whole text of a result, spilled or not, by range.
 *
 * @throws {GauntletError} `not_found` for a call there is not or that has no result yet, `gone` when retention took it.
 */
export async function resultTextPage(core: SessionCore, toolUseId: string, range: TextRange): Promise<ResultTextPage> {
  const seq = core.ledger.call(toolUseId)?.resultSeq;
  if (seq === undefined) throw new GauntletError('not_found', `Call "${toolUseId}" has no result in this session`);
  const frame = (await loggedFrame(core, seq))?.frame;
  if (frame?.type !== 'result' || frame.tool_use_id !== toolUseId) throw noLongerKept(toolUseId);
  return textPage(await textRange(core, frame, range), range);
}

/** Describe a part of a text that was read. */
export function textPage(
  { text, totalChars }: { readonly text: string; readonly totalChars: number },
  range: TextRange,
): ResultTextPage {
  const end = range.offsetChars + text.length;
  return {
    text,
    total_chars: totalChars,
    offset_chars: range.offsetChars,
    ...(end < totalChars && text.length > 0 ? { next_offset_chars: end } : {}),
  };
}

async function textRange(
  core: SessionCore,
  frame: ResultFrame,
  range: TextRange,
): Promise<{ readonly text: string; readonly totalChars: number }> {
  if (frame.call.spilled) return core.services.readSpilled(frame.call.spilled.path, range);
  const whole = resultText(frame.tool_result.content);
  return { text: whole.slice(range.offsetChars, range.offsetChars + range.limitChars), totalChars: whole.length };
}

/** Calls whose shown text holds the query, letters of either case, oldest first. */
export async function searchResults(core: SessionCore, query: string, mostHits: number): Promise<readonly SearchHit[]> {
  const wanted = query.toLowerCase();
  const hits: SearchHit[] = [];
  for await (const page of core.services.log.read(core.id, 0, { live: false })) {
    for (const { type, seq, frame } of page.filter(
      (logged) => logged.type === 'result' || logged.type === 'tool_use',
    )) {
      if (frame.type !== 'result' && frame.type !== 'tool_use') continue;
      const text = frame.type === 'result' ? resultText(frame.tool_result.content) : askedText(frame.tool_use);
      const place = text.toLowerCase().indexOf(wanted);
      const toolUseId = frame.type === 'result' ? frame.tool_use_id : frame.tool_use.id;
      if (place === -1 || (type === 'result' && hits.some((hit) => hit.tool_use_id === toolUseId))) continue;
      hits.push({ seq, tool_use_id: toolUseId, snippet: snippetAt(text, place, query.length) });
      if (hits.length >= mostHits) return hits;
    }
  }
  return hits;
}

/** What a call was asked: its tool and the texts of its input, without the JSON around them. */
function askedText({ name, input }: ToolUseBlock): string {
  return [name, ...textsIn(input)].join(' ');
}

function textsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return value === null ? [] : [String(value)];
  return Object.values(value).flatMap(textsIn);
}

function snippetAt(text: string, place: number, length: number): string {
  const start = Math.max(0, place - SNIPPET_CHARS);
  const end = Math.min(text.length, place + length + SNIPPET_CHARS);
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}
