/**
 * Files that are more than text: told by their content, shown by kind.
 */
import { extname } from 'node:path';
import type { Limits } from '../../../config/limits.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import type { RichOutput } from './output.ts';
import type { RichFile, RichKind } from './rich-file.ts';

const KINDS: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
] satisfies RichKind[];

/**
 * What kind of file this is, if it is more than text.
 *
 * @param head Its first bytes.
 * @param path Only notebooks go by their name: their content is JSON like any other.
 */
export async function richKind(head: Buffer, path: string): Promise<RichKind | undefined> {
  if (extname(path).toLowerCase() === '.ipynb') return 'notebook';
  // Telling kinds apart takes a library; the first byte says that a source file needs none.
  if (!mayBeRich(head)) return undefined;
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head);
  return found && KINDS.includes(found.mime) ? (found.mime as RichKind) : undefined;
}

/** Read such a file whole and turn it into blocks. */
export async function readRich(rich: RichFile, limits: Limits): Promise<RichOutput> {
  const { size } = rich.file.stats;
  if (size > limits.readRichBytes) {
    throw new GauntletError(
      'tool_failed',
      `Cannot read "${rich.path}": it has ${size} bytes, and images, PDFs and notebooks are read up to ${limits.readRichBytes}. Make it smaller with Bash first`,
    );
  }
  const bytes = await rich.file.readWhole(limits.readRichBytes);
  rich.signal.throwIfAborted();
  if (rich.kind === 'notebook') return (await import('./notebook.ts')).readNotebook(rich, bytes, limits);
  if (rich.kind === 'application/pdf') return (await import('./pdf.ts')).readPdf(rich, bytes, limits);
  return (await import('./image.ts')).readImage(rich, bytes, limits);
}

function mayBeRich(head: Buffer): boolean {
  const first = head[0] ?? 0;
  return first >= 0x80 || head.includes(0) || /^(?:%PDF|GIF8|RIFF)/.test(head.toString('latin1', 0, 4));
}
