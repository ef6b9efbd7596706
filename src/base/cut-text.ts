/**
 * Cutting a text without leaving half a character behind.
 */

/** What is kept of a text that may be too long. */
export interface WindowedText {
  /** Head and tail where something is left out; no lone surrogate at the cut. */
  readonly head: string;
  readonly tail: string;
  /** Left out between the two; 0 means that `head` is the whole text and `tail` is empty. */
  readonly omittedChars: number;
  readonly totalChars: number;
}

/** The first `chars` UTF-16 units of a text, one less where they would end in half a surrogate pair. */
export function cutText(text: string, chars: number): string {
  const end = Math.max(0, Math.floor(chars));
  return text.slice(0, splitsPair(text, end) ? end - 1 : end);
}

/** The last `chars` UTF-16 units of a text, one less where they would begin with half a surrogate pair. */
export function cutTextEnd(text: string, chars: number): string {
  const start = text.length - Math.max(0, Math.floor(chars));
  return start <= 0 ? text : text.slice(splitsPair(text, start) ? start + 1 : start);
}

/** Whether a cut before unit `at` leaves a surrogate pair in halves. */
export function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

/** The body as UTF-8; undefined when it is longer than `mostBytes`, and then the rest is not read. */
export async function boundedText(reply: Response, mostBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of reply.body ?? []) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
