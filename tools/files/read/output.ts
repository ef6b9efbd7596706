/** Output types of Read, by kind of file. */
import type { ResultContentBlock } from '../../../src/wire/blocks.ts';

/** Text with line numbers. */
export interface TextOutput {
  readonly type: 'text';
  readonly path: string;
  /** Numbered lines; empty if there are none to show. */
  readonly text: string;
  /** Further information for the reader: the text is partial, empty, or ends early. */
  readonly notice?: string;
  readonly startLine: number;
  readonly lineCount: number;
  /** Number of lines of the whole file, if counted. */
  readonly totalLines?: number;
  readonly sizeBytes: number;
  /** True if less than the whole file is shown. */
  readonly isPartial: boolean;
  /** True if a line is shown only in part. */
  readonly hasCutLines?: true;
}

/** Content blocks of an image, PDF or notebook. */
export interface RichOutput {
  readonly type: 'image' | 'pdf' | 'notebook';
  readonly path: string;
  readonly content: readonly ResultContentBlock[];
  /** One line for people: "1200 × 800 PNG", "pages 1-5 of 20". */
  readonly summary: string;
  readonly sizeBytes: number;
  readonly isPartial: boolean;
}

/** Any output of Read. */
export type ReadOutput = TextOutput | RichOutput;
