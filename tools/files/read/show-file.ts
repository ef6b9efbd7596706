/** Detects the kind of an open file and reads it accordingly. */
import { extname } from 'node:path';
import { GauntletError } from '../../../src/base/errors.ts';
import { createPace } from '../../../src/base/pace.ts';
import type { CheckedFile } from '../../../src/files/open-checked.ts';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import { PROGRESS_MS, type ToolProgress, type ToolUseContext } from '../../../src/tool/tool.ts';
import type { ReadOutput, RichOutput } from './output.ts';
import type { RichFile, RichKind } from './rich-file.ts';
import type { ReadArguments } from './schema.ts';
import { notText, readText, MAX_PAGE_BYTES } from './text.ts';

/** Length of a line in a page; longer ones are cut. */
export const MAX_LINE_CHARS = 2_000;

/** An image, a PDF or a notebook larger than this is not opened. */
const MAX_RICH_BYTES = 32 * 1_024 * 1_024;

const KINDS: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
] satisfies RichKind[];

/** Number of bytes used to detect the kind of a file. */
const HEAD_BYTES = 4_100;

/** Progress of a long read. */
export interface ReadProgress {
  readonly type: 'bytes';
  readonly done: number;
  readonly total: number;
}

/** A file opened for reading. */
export interface OpenedFile {
  readonly file: CheckedFile;
  /** The whole content of a small file. */
  readonly whole: Buffer | undefined;
  readonly input: ReadArguments;
  readonly located: LocatedPath;
  readonly context: ToolUseContext;
  readonly onProgress: ((progress: ToolProgress<ReadProgress>) => void) | undefined;
}

/** Read the requested part of a file of any kind. @throws {GauntletError} `tool_failed` if it cannot be shown. */
export async function showFile(read: OpenedFile): Promise<ReadOutput> {
  const { file, whole, input, located, context } = read;
  const head = whole ?? (await readHead(file));
  const kind = await richKind(head.subarray(0, HEAD_BYTES), located.real);
  if (kind !== undefined) {
    return readRich({ kind, file, path: located.spelled, input, signal: context.signal });
  }
  if (input.pages !== undefined) {
    throw new GauntletError(
      'tool_failed',
      `Cannot read pages of "${input.file_path}": it is not a PDF. Use offset and limit`,
    );
  }
  if (head.subarray(0, HEAD_BYTES).includes(0)) throw notText(input.file_path);
  const { onProgress } = read;
  const isDue = createPace(PROGRESS_MS);
  return readText({
    file,
    path: located.spelled,
    offset: Math.max(1, input.offset ?? 1),
    // A spilled result often has a single long line, which must be readable here.
    maxLineChars: located.isSessionFile ? MAX_PAGE_BYTES : MAX_LINE_CHARS,
    signal: context.signal,
    ...(whole ? { whole } : {}),
    ...(input.limit === undefined ? {} : { limit: input.limit }),
    onProgress: (done, total) => {
      if (onProgress && isDue()) onProgress({ data: { type: 'bytes', done, total } });
    },
  });
}

async function readHead(file: CheckedFile): Promise<Buffer> {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  return head.subarray(0, await file.read(head, 0));
}

/**
 * Detect the kind of a file that is not plain text.
 *
 * @param head First bytes of the file.
 * @param path Notebooks are detected by name, since their content is ordinary JSON.
 */
async function richKind(head: Buffer, path: string): Promise<RichKind | undefined> {
  if (extname(path).toLowerCase() === '.ipynb') return 'notebook';
  // Detection loads a library; the first byte of a source file shows that it is not needed.
  if (!mayBeRich(head)) return undefined;
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head);
  return found && KINDS.includes(found.mime) ? (found.mime as RichKind) : undefined;
}

/** Read such a file completely and convert it to blocks. */
async function readRich(rich: RichFile): Promise<RichOutput> {
  const { size } = rich.file.stats;
  if (size > MAX_RICH_BYTES) {
    throw new GauntletError(
      'tool_failed',
      `Cannot read "${rich.path}": it has ${size} bytes, and images, PDFs and notebooks are read up to ${MAX_RICH_BYTES}. Make it smaller with Bash first`,
    );
  }
  const bytes = await rich.file.readWhole(MAX_RICH_BYTES);
  rich.signal.throwIfAborted();
  if (rich.kind === 'notebook') return (await import('./notebook.ts')).readNotebook(rich, bytes);
  if (rich.kind === 'application/pdf') return (await import('./pdf.ts')).readPdf(rich, bytes);
  return (await import('./image.ts')).readImage(rich, bytes);
}

function mayBeRich(head: Buffer): boolean {
  const first = head[0] ?? 0;
  return first >= 0x80 || head.includes(0) || /^(?:%PDF|GIF8|RIFF)/.test(head.toString('latin1', 0, 4));
}
