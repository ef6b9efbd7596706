/**
 * Cuts a stdio server's output into lines, each at most one message long.
 */

const LINE_FEED = 0x0a;

/**
 * Make a splitter for one stream.
 *
 * @param maxBytes Longest line; the unfinished one included.
 * @param onLine Called for each whole line, without its line feed.
 * @param onOverflow Called once, when a line grew past `maxBytes`; what comes after is dropped.
 */
export function splitLines(maxBytes: number, onLine: (line: Buffer) => void, onOverflow: () => void) {
  // The line that has begun and not ended; chunks are joined once, when its end arrives.
  let begun: Buffer[] = [];
  let begunBytes = 0;
  let hasOverflowed = false;

  return function push(chunk: Buffer): void {
    let start = 0;
    while (!hasOverflowed) {
      const end = chunk.indexOf(LINE_FEED, start);
      const piece = chunk.subarray(start, end === -1 ? undefined : end);
      begunBytes += piece.length;
      if (begunBytes > maxBytes) {
        hasOverflowed = true;
        begun = [];
        return onOverflow();
      }
      if (piece.length > 0) begun.push(piece);
      if (end === -1) return;
      const [only] = begun;
      onLine(begun.length === 1 && only !== undefined ? only : Buffer.concat(begun));
      begun = [];
      begunBytes = 0;
      start = end + 1;
    }
  };
}
