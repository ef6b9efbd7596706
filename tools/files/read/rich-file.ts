/** Types of files that are not plain text, identified by content. */
import type { CheckedFile } from '../../../src/files/open-checked.ts';
import type { ReadArguments } from './schema.ts';

/** Scaling an image, or taking the text out of a PDF, ends after this long. */
export const CONVERT_MS = 20_000;

/** A kind of file with a viewer in Read. */
export type RichKind = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'application/pdf' | 'notebook';

/** A file of such a kind. */
export interface RichFile {
  readonly kind: RichKind;
  readonly file: CheckedFile;
  readonly path: string;
  readonly input: ReadArguments;
  readonly signal: AbortSignal;
}
