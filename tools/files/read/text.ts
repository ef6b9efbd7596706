/** Reads text files: the requested lines, from a small file in memory or a large one as a stream. */
import { isUtf8 } from 'node:buffer';
import { GauntletError } from '../../../src/base/errors.ts';
import type { CheckedFile } from '../../../src/files/open-checked.ts';
import { createLinePage, type FinishedPage } from './line-page.ts';
import type { TextOutput } from './output.ts';

/** Lines of one page. */
export const MAX_LINES = 2_000;

/** Text of one page: some 25,000 tokens at four bytes a token. */
export const MAX_PAGE_BYTES = 100_000;

/** Bytes looked through for one page once its first line is found: one endless line ends here. */
const MAX_PAGE_SCAN_BYTES = 16 * 1_024 * 1_024;

/** Bytes skipped to find a page's first line: more than any log, less than a sparse terabyte. */
const MAX_SEEK_BYTES = 16 * 1_024 * 1_024 * 1_024;

/** Large enough to go through the thread pool, so that a long file never blocks the event loop. */
const CHUNK_BYTES = 1_024 * 1_024;
const LINE_END = 0x0a;

/** A request for a part of a text file. */
export interface TextRequest {
  readonly file: CheckedFile;
  /** The whole content of a small file. */
  readonly whole?: Buffer;
  readonly path: string;
  /** First line, counted from 1. */
  readonly offset: number;
  readonly limit?: number;
  readonly maxLineChars: number;
  readonly signal: AbortSignal;
  onProgress(doneBytes: number, totalBytes: number): void;
}

/** Read a page of a text file. @throws {GauntletError} `tool_failed` if the part shown is not UTF-8 text. */
export async function readText(request: TextRequest): Promise<TextOutput> {
  const { file, whole, path, offset } = request;
  const described = { type: 'text' as const, path, sizeBytes: file.stats.size, startLine: offset };
  if (file.stats.size === 0)
    return { ...described, text: '', lineCount: 0, totalLines: 0, isPartial: false, notice: EMPTY };
  if (whole && !isUtf8(whole)) throw notText(path);

  const start = await findLine(request);
  if (start.position === undefined) {
    const count = start.lines === 1 ? '1 line' : `${start.lines} lines`;
    const notice = `The file has ${count}; line ${offset} is past its end`;
    return { ...described, text: '', lineCount: 0, totalLines: start.lines, isPartial: true, notice };
  }
  const page = await readPage(request, start.position);
  const totalLines = countedLines(request, page);
  const notice = page.stoppedBy && partialNotice(request, page, totalLines);
  return {
    text: page.text,
    lineCount: page.lineCount,
    isPartial: offset > 1 || page.stoppedBy !== undefined,
    ...described,
    ...(totalLines === undefined ? {} : { totalLines }),
    ...(notice === undefined ? {} : { notice }),
    ...(page.hasCutLines && { hasCutLines: true }),
  };
}

const EMPTY = 'The file exists but is empty';

/** Create the error for a file that is not text. */
export function notText(path: string): GauntletError {
  return new GauntletError(
    'tool_failed',
    `Cannot read "${path}": it is not UTF-8 text, nor an image, PDF or notebook. ` +
      'Look at it with Bash, for example with file, xxd or strings, or convert it with iconv',
    { details: { reason: 'binary' } },
  );
}

/** Find the position of line `offset`; without one, `lines` is the number of lines in the file. */
async function findLine(request: TextRequest): Promise<{ position?: number; lines: number }> {
  let toSkip = request.offset - 1;
  let position = 0;
  let endsWithLine = true;
  if (toSkip === 0) return { position: 0, lines: 0 };
  for await (const chunk of chunks(request, 0, MAX_SEEK_BYTES)) {
    let at = chunk.indexOf(LINE_END);
    while (at >= 0) {
      if (--toSkip === 0)
        return position + at + 1 < request.file.stats.size
          ? { position: position + at + 1, lines: 0 }
          : { lines: request.offset - 1 };
      at = chunk.indexOf(LINE_END, at + 1);
    }
    position += chunk.length;
    endsWithLine = chunk.at(-1) === LINE_END;
    request.onProgress(position, request.file.stats.size);
  }
  return { lines: request.offset - 1 - toSkip + (endsWithLine ? 0 : 1) };
}

async function readPage(request: TextRequest, start: number): Promise<FinishedPage> {
  const page = createLinePage({
    firstLine: request.offset,
    maxLines: request.limit ?? MAX_LINES,
    maxLineChars: request.maxLineChars,
    maxBytes: MAX_PAGE_BYTES,
  });
  let carried: Buffer = Buffer.alloc(0);
  let position = start;
  for await (const chunk of chunks(request, start, MAX_PAGE_SCAN_BYTES)) {
    const isFirst = position === 0;
    position += chunk.length;
    const isLast = position >= request.file.stats.size;
    const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
    const cut = isLast ? bytes.length : characterBoundary(bytes);
    if (!request.whole && !isUtf8(bytes.subarray(0, cut))) throw notText(request.path);
    const text = bytes.toString('utf8', isFirst ? byteOrderMarkBytes(bytes) : 0, cut);
    // Copied, since the chunk's memory is reused for the next one.
    carried = Buffer.from(bytes.subarray(cut));
    if (!page.push(text)) break;
  }
  return page.finish(position >= request.file.stats.size);
}

/** Read the file from `start` in pieces, each valid only until the next one is requested. */
async function* chunks(request: TextRequest, start: number, capBytes: number): AsyncGenerator<Buffer> {
  if (request.whole) {
    yield request.whole.subarray(start);
    return;
  }
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let done = 0; done < capBytes;) {
    request.signal.throwIfAborted();
    const bytes = await request.file.read(buffer, start + done);
    if (bytes === 0) return;
    yield buffer.subarray(0, bytes);
    done += bytes;
  }
}

/** Find the end of the last complete character: a lead byte among the last three may need bytes of the next chunk. */
function characterBoundary(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) {
      const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return wanted > back ? bytes.length - back : bytes.length;
    }
    if (byte < 0x80) break;
  }
  return bytes.length;
}

function byteOrderMarkBytes(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

function countedLines(request: TextRequest, page: FinishedPage): number | undefined {
  if (page.stoppedBy === undefined) return request.offset - 1 + page.lineCount;
  if (!request.whole) return undefined;
  let lines = 0;
  for (let at = request.whole.indexOf(LINE_END); at >= 0; at = request.whole.indexOf(LINE_END, at + 1)) lines++;
  return lines + (request.whole.at(-1) === LINE_END ? 0 : 1);
}

/** Format the notice about missing lines; undefined if the request limited them. */
function partialNotice(request: TextRequest, page: FinishedPage, totalLines: number | undefined): string | undefined {
  if (page.lineCount === request.limit) return undefined;
  const last = request.offset + page.lineCount - 1;
  const size = `${request.file.stats.size} bytes`;
  const whole = totalLines === undefined ? `a file of ${size}` : `${totalLines}`;
  const goOn = `Go on with offset ${last + 1}`;
  return `PARTIAL: lines ${request.offset}-${last} of ${whole} are shown. ${goOn}, or search the file with Grep`;
}
