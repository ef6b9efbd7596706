/**
 * The body of a reply from outside, read as far as it may go.
 */

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
