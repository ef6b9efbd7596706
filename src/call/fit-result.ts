/**
 * The last step before a result leaves: its text is fitted to its own limit and to what its turn has left.
 *
 * What does not fit is written whole to the session's folder and the model gets a preview, the size and
 * the path; a tool that limits itself is cut to a page instead, or it would chase its own tail.
 */
import { resultText, type ResultContentBlock, type SpilledText, type ToolResultBlock } from '../wire/blocks.ts';
import { cutText, cutTextEnd } from '../base/cut-text.ts';
import { errorMessage } from '../base/errors.ts';
import type { ResultBudget } from './outcome.ts';

type Content = ToolResultBlock['content'];

/**
 * A text no longer than the notice that would stand in its place is left as it is; so each result of a turn
 * needs this much room.
 */
export const NOTICE_CHARS = 300;

/** How much room there is, and where the rest may go. */
export interface ResultRoom {
  /** What the turn has left. */
  readonly remainingChars: number;
  /** What any one result may have. */
  readonly resultChars: number;
  readonly previewChars: number;
  /** Ceiling of any text, UTF-8. */
  readonly textBytes: number;
  /** Writes a text to the session's folder. @throws {GauntletError} `spill_failed` */
  spill(text: string): Promise<SpilledText>;
}

/** A result as the model gets it. */
export interface FittedResult {
  readonly content: Content;
  readonly resultChars: number;
  readonly spilled?: SpilledText;
}

/** Fit a result to its room. Never rejects: what cannot be spilled is cut and says so. */
export async function fitResult(content: Content, budget: ResultBudget, room: ResultRoom): Promise<FittedResult> {
  const text = resultText(content);
  const { limitChars = room.resultChars, showsEnd = false } = budget;
  const limit = budget.isInTurnSum ? Math.min(limitChars, room.remainingChars) : limitChars;
  if (text.length <= Math.max(limit, NOTICE_CHARS) && fitsBytes(text, room.textBytes))
    return { content, resultChars: text.length };

  if (budget.isCut) return cutToPage(content, text, Math.min(limit, room.textBytes / 4));
  try {
    const spilled = await room.spill(text);
    return {
      ...replaceText(content, spilledText(text, spilled, { limit, previewChars: room.previewChars, showsEnd })),
      spilled,
    };
  } catch (error) {
    // The whole text has nowhere to go; the model gets what fits and learns why the rest is missing.
    const kept = Math.max(room.previewChars, Math.min(limit, room.textBytes / 4));
    const notice = `[PARTIAL: ${text.length} characters, the rest is lost: spill_failed: ${errorMessage(error)}]`;
    return replaceText(content, `${showsEnd ? headAndEnd(text, kept) : cutText(text, kept)}\n${notice}`);
  }
}

/** A UTF-16 unit is at most three bytes of UTF-8, so most texts need no counting. */
function fitsBytes(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes;
}

/** The notice, and as much of a preview as goes beside it. */
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

/** The beginning and the end of a text with a line about the rest between, together at most `chars`; '' where that is too little. */
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

/** Put `text` in the place of all text of a result; images and documents stay. */
function replaceText(content: Content, text: string): FittedResult {
  if (typeof content === 'string') return { content: text, resultChars: text.length };
  const others = content.filter((block) => block.type !== 'text');
  const first: ResultContentBlock = { type: 'text', text };
  return { content: [first, ...others], resultChars: text.length };
}
