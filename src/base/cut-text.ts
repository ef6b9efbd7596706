/**
 * Cuts text without splitting a surrogate pair.
 */

/** Head and tail of a text that may be too long. */
export interface WindowedText {
  /** Beginning of the text, or all of it; no surrogate pair is split at the cut. */
  readonly head: string;
  readonly tail: string;
  /** Characters between the two; 0 means that `head` is the whole text and `tail` is empty. */
  readonly omittedChars: number;
  readonly totalChars: number;
}

/** Cut to the first `chars` UTF-16 units, one less if that would split a surrogate pair. */
export function cutText(text: string, chars: number): string {
  const end = Math.max(0, Math.floor(chars));
  return text.slice(0, splitsPair(text, end) ? end - 1 : end);
}

/** Cut to the last `chars` UTF-16 units, one less if that would split a surrogate pair. */
export function cutTextEnd(text: string, chars: number): string {
  const start = text.length - Math.max(0, Math.floor(chars));
  return start <= 0 ? text : text.slice(splitsPair(text, start) ? start + 1 : start);
}

/** True if a cut before unit `at` splits a surrogate pair. */
export function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

/** Read a body as UTF-8; `undefined` if it is longer than `mostBytes`, whose excess is not read. */
export async function boundedText(reply: Response, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of reply.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
