/**
 * Reads stored results: their whole text by range, and a search in their displayed text.
 */
import { resultText } from '../../wire/result-text.ts';
import { GauntletError } from '../../base/errors.ts';
import type { ResultFrame } from '../../wire/frames.ts';
import type { ResultTextPage, SearchHit } from '../../wire/session-replies.ts';
import { askedText, snippetAt } from '../search/call-text.ts';
import { loggedFrame } from './logged-frame.ts';
import { noLongerKept } from '../restore/recalled-block.ts';
import type { SessionCore } from '../session-core.ts';
import type { TextRange } from '../session-services.ts';

export type { TextRange } from '../session-services.ts';

/**
 * Read a range of a result's whole text, spilled or not.
 *
 * @throws {GauntletError} `not_found` for an unknown call or one without a result, `gone` if retention deleted it.
 */
export async function resultTextPage(core: SessionCore, toolUseId: string, range: TextRange): Promise<ResultTextPage> {
  const seq = core.ledger.call(toolUseId)?.resultSeq;
  if (seq === undefined) throw new GauntletError('not_found', `Call "${toolUseId}" has no result in this session`);
  const frame = (await loggedFrame(core, seq))?.frame;
  if (frame?.type !== 'result' || frame.tool_use_id !== toolUseId) throw noLongerKept(toolUseId);
  return textPage(await textRange(core, frame, range), range);
}

/** Build the page of a text range. */
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

/** Find calls whose displayed text contains the query, ignoring case, oldest first. */
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
