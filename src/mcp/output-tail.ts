/**
 * The end of what a server wrote to its standard error: enough to explain a failure, never more.
 */

/** Keeps the last bytes that were pushed. */
export interface OutputTail {
  push(chunk: Buffer): void;
  /** What is kept, trimmed, as text. */
  text(): string;
}

/** @param maxBytes Most bytes kept, whatever is written. */
export function outputTail(maxBytes: number): OutputTail {
  let kept = Buffer.alloc(0);
  return {
    push(chunk) {
      const joined = chunk.length >= maxBytes ? chunk : Buffer.concat([kept, chunk]);
      // Copied, so that a small tail does not hold a large chunk in memory.
      kept = Buffer.from(joined.subarray(Math.max(0, joined.length - maxBytes)));
    },
    text: () => kept.toString('utf8').trim(),
  };
}
