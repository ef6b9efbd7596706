/** What Read hands back, by the kind of file. */
import type { ResultContentBlock } from '../../../src/wire/blocks.ts';

/** Text with line numbers. */
export interface TextOutput {
  readonly type: 'text';
  readonly path: string;
  /** Numbered lines; empty when there are none to show. */
  readonly text: string;
  /** What the reader must know beside the text: that it is partial, empty, or ends early. */
  readonly notice?: string;
  readonly startLine: number;
  readonly lineCount: number;
  /** Lines of the whole file, where they were counted. */
  readonly totalLines?: number;
  readonly sizeBytes: number;
  /** Less than the whole file is shown. */
  readonly isPartial: boolean;
  /** A line that is shown is longer than what is shown of it. */
  readonly hasCutLines?: true;
}

/** An image, PDF or notebook: blocks ready for the model. */
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
