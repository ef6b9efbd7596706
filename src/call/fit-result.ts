/**
 * Fits a result's text to its own limit and to the remaining budget of its turn, before it is sent.
 *
 * Text that does not fit is written to the session's folder, and the model gets a preview, the size and the path. A
 * tool that limits itself is cut to a page instead, since reading the file would produce the same result again.
 */
import type { ResultContentBlock, SpilledText, ToolResultBlock } from '../wire/blocks.ts';
import { resultText } from '../wire/result-text.ts';
import { cutText, cutTextEnd } from '../base/cut-text.ts';
import { errorMessage } from '../base/errors.ts';
import type { ResultBudget } from './outcome.ts';

type Content = ToolResultBlock['content'];

/** Texts up to the length of the notice are not replaced by it, so each result of a turn needs this much room. */
export const NOTICE_CHARS = 300;

/** Ceiling of any text, UTF-8: few characters may be many bytes. */
const MAX_TEXT_BYTES = 400_000;

/** Room for a result, and the function that saves what exceeds it. */
export interface ResultRoom {
  /** Remaining budget of the turn. */
  readonly remainingChars: number;
  /** Maximum of any one result. */
  readonly resultChars: number;
  readonly previewChars: number;
  /** Maximum bytes of the text in UTF-8, where it is not `MAX_TEXT_BYTES`. */
  readonly textBytes?: number;
  /** Writes a text to the session's folder. @throws {GauntletError} `spill_failed` */
  spill(text: string): Promise<SpilledText>;
}

/** A result as the model receives it. */
export interface FittedResult {
  readonly content: Content;
  readonly resultChars: number;
  readonly spilled?: SpilledText;
}

/** Fit a result to its room. Never rejects: text that cannot be spilled is cut with a notice. */
export async function fitResult(content: Content, budget: ResultBudget, room: ResultRoom): Promise<FittedResult> {
  const text = resultText(content);
  const { textBytes = MAX_TEXT_BYTES } = room;
  const { limitChars = room.resultChars, showsEnd = false } = budget;
  const limit = budget.isInTurnSum ? Math.min(limitChars, room.remainingChars) : limitChars;
  if (text.length <= Math.max(limit, NOTICE_CHARS) && fitsBytes(text, textBytes))
    return { content, resultChars: text.length };

  if (budget.isCut) return cutToPage(content, text, Math.min(limit, textBytes / 4));
  try {
    const spilled = await room.spill(text);
    return {
      ...replaceText(content, spilledText(text, spilled, { limit, previewChars: room.previewChars, showsEnd })),
      spilled,
    };
  } catch (error) {
    // The text cannot be stored; the model gets what fits, and the reason for the missing rest.
    const kept = Math.max(room.previewChars, Math.min(limit, textBytes / 4));
    const notice = `[PARTIAL: ${text.length} characters, the rest is lost: spill_failed: ${errorMessage(error)}]`;
    return replaceText(content, `${showsEnd ? headAndEnd(text, kept) : cutText(text, kept)}\n${notice}`);
  }
}

/** A UTF-16 unit is at most three bytes of UTF-8, so most texts need no counting. */
function fitsBytes(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes;
}

/** Build the notice, with as much of a preview as fits. */
function spilledText(
  text: string,
  spilled: SpilledText,
  {
    limit,
    previewChars,
    showsEnd,
  }: { readonly limit: number; readonly previewChars: number; readonly showsEnd: boolean },
): string {
  const notice =
    `Output too large (${spilled.chars} characters). The whole text was saved to: ${spilled.path}\n` +
    'Use Read with offset and limit, or Grep, on that file to see the rest.';
  const withPreview = (preview: string) =>
    showsEnd
      ? `${notice}\n\nPreview (beginning and end):\n${preview}`
      : `${notice}\n\nPreview (first ${preview.length} characters):\n${preview}\n...`;
  const overheadChars = withPreview('').length + String(previewChars).length;
  const chars = Math.min(previewChars, limit - overheadChars);
  const preview = showsEnd ? headAndEnd(text, chars) : cutText(text, chars);
  return preview === '' ? notice : withPreview(preview);
}

/** Cut a text to its beginning and end with a note between, at most `chars` in total; '' if that is too little. */
function headAndEnd(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const gap = (leftOut: number) => `\n[${leftOut} of ${text.length} characters left out]\n`;
  const room = chars - gap(text.length).length;
  if (room <= 0) return '';
  const head = cutText(text, room / 2);
  const end = cutTextEnd(text, room / 2);
  return `${head}${gap(text.length - head.length - end.length)}${end}`;
}

function cutToPage(content: Content, text: string, chars: number): FittedResult {
  const notice = (kept: number) =>
    `[PARTIAL: the results of this turn are too large together; ${kept} of ${text.length} characters shown. ` +
    'Ask for the rest in a later turn]';
  const page = cutText(text, chars - notice(text.length).length - 1);
  const lastLine = page.lastIndexOf('\n');
  const kept = lastLine > 0 ? page.slice(0, lastLine) : page;
  return replaceText(content, kept === '' ? notice(0) : `${kept}\n${notice(kept.length)}`);
}

/** Replace all text of a result by `text`; images and documents stay. */
function replaceText(content: Content, text: string): FittedResult {
  if (typeof content === 'string') return { content: text, resultChars: text.length };
  const others = content.filter((block) => block.type !== 'text');
  const first: ResultContentBlock = { type: 'text', text };
  return { content: [first, ...others], resultChars: text.length };
}
