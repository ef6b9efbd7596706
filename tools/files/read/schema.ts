/** Input schema of Read. */
import * as z from 'zod';

/** Pages of a PDF in one read. */
export const MAX_PDF_PAGES = 20;

/** Input of Read. */
export const ReadInput = z.strictObject({
  file_path: z.string().min(1).describe('The file to read: an absolute path, or one relative to the working directory'),
  offset: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Line to start from, counted from 1 (in a notebook: the cell). Give it only when the file is too large to read at once',
    ),
  limit: z
    .int()
    .min(1)
    .optional()
    .describe('How many lines to read (in a notebook: cells). Give it only when the file is too large to read at once'),
  pages: z
    .string()
    .regex(/^\s*\d{1,6}\s*(-\s*\d{1,6}\s*)?$/, 'Use a page or a range of pages, such as "3" or "1-5"')
    .optional()
    .describe(`Pages of a PDF, such as "3" or "1-5"; at most ${MAX_PDF_PAGES} at once. Only for PDF files`),
});

/** A parsed input of Read. */
export interface ReadArguments {
  readonly file_path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly pages?: string | undefined;
}
