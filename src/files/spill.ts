/** Saves texts too large for a result in their session's folder, private to the server's user. */
import { createHash } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { resolve } from 'node:path';
import type { SpilledText } from '../wire/blocks.ts';
import { splitsPair } from '../base/cut-text.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { withCheckedFile } from './open-checked.ts';
import { privateWrite } from './private-write.ts';
import { resolveRealPath } from './real-path.ts';

/** A part of a spilled text. */
export interface SpilledRange {
  readonly text: string;
  readonly totalChars: number;
  /** Start of `text`: one less than requested if that would have split a surrogate pair. */
  readonly offsetChars: number;
  /** Offset of the next part; absent at the end. */
  readonly nextOffsetChars?: number;
}

/**
 * Return the name of a call's file, without an extension. An id that is no plain file name is replaced by its digest;
 * the dot keeps that apart from all other ids.
 */
export function callFileName(toolUseId: string): string {
  if (/^[A-Za-z0-9_-]{1,128}$/.test(toolUseId)) return toolUseId;
  return `call.${createHash('sha256').update(toolUseId).digest('hex')}`;
}

/** Size of a read through the thread pool, so that a long text never blocks the event loop. */
const CHUNK_BYTES = 1_024 * 1_024;

/**
 * Write a text to a session's folder: 0600 in 0700, completely or not at all.
 *
 * @param name File name; letters, digits, `.`, `_` and `-`.
 * @param content A text, or bytes that are stored unchanged.
 * @throws {GauntletError} `spill_failed` if the disk refuses.
 */
export async function spillText(folder: string, name: string, content: string | Buffer): Promise<SpilledText> {
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/.test(name))
    throw new TypeError(`Cannot spill to "${name}": not a plain file name`);
  const found = resolveRealPath(resolve(folder, name));
  if ('refusal' in found) throw new GauntletError('spill_failed', `Cannot save the whole text: ${found.refusal}`);
  try {
    await privateWrite(found.real, content, name);
  } catch (error) {
    throw new GauntletError('spill_failed', `Cannot save the whole text: ${errorMessage(error)}`, { cause: error });
  }
  return { path: found.real, chars: typeof content === 'string' ? content.length : countChars(content) };
}

/**
 * Read a part of a spilled text, holding only that part in memory.
 *
 * Bytes that are not UTF-8 become U+FFFD. A surrogate pair is never split.
 *
 * @param range UTF-16 code units.
 * @throws {GauntletError} `tool_failed` if the file is missing.
 */
export async function readSpilledRange(
  path: string,
  range: { readonly offsetChars: number; readonly limitChars: number },
): Promise<SpilledRange> {
  return withCheckedFile(path, path, async (file) => {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, file.stats.size)));
    const decoder = new StringDecoder('utf8');
    // One more unit on either side shows whether the range splits a pair.
    const from = Math.max(0, range.offsetChars - 1);
    const to = range.offsetChars + range.limitChars + 1;
    let kept = '';
    let seenChars = 0;
    function take(text: string): void {
      if (seenChars < to && seenChars + text.length > from)
        kept += text.slice(Math.max(0, from - seenChars), to - seenChars);
      seenChars += text.length;
    }
    for (let position = 0; position < file.stats.size;) {
      const bytes = await file.read(buffer, position);
      if (bytes === 0) break;
      take(decoder.write(buffer.subarray(0, bytes)));
      position += bytes;
    }
    take(decoder.end());
    return cutRange(kept, from, range, seenChars);
  });
}

function cutRange(
  kept: string,
  from: number,
  range: { readonly offsetChars: number; readonly limitChars: number },
  totalChars: number,
): SpilledRange {
  const isHalf = (at: number) => splitsPair(kept, at - from);
  const start = isHalf(range.offsetChars) ? range.offsetChars - 1 : Math.min(range.offsetChars, totalChars);
  const wanted = Math.min(totalChars, range.offsetChars + range.limitChars);
  const shorter = isHalf(wanted) ? wanted - 1 : wanted;
  // With a limit of one unit, reading would never advance past a pair.
  const end = shorter > start ? shorter : Math.min(totalChars, wanted + (isHalf(wanted) ? 1 : 0));
  const text = kept.slice(start - from, end - from);
  return { text, totalChars, offsetChars: start, ...(end < totalChars ? { nextOffsetChars: end } : {}) };
}

function countChars(bytes: Buffer): number {
  const decoder = new StringDecoder('utf8');
  let chars = 0;
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    chars += decoder.write(bytes.subarray(at, at + CHUNK_BYTES)).length;
  return chars + decoder.end().length;
}
