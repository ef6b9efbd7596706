/** Input schema of Edit. */
import * as z from 'zod';

/** Input of Edit. */
export const EditInput = z.strictObject({
  file_path: z
    .string()
    .min(1)
    .describe('The file to change: an absolute path, or one relative to the working directory'),
  old_string: z.string().describe('The exact text to replace; empty to create a new file'),
  new_string: z.string().describe('The text to put in its place; must differ from old_string'),
  replace_all: z
    .boolean()
    .optional()
    .describe('Replace every occurrence of old_string (default false: it must occur exactly once)'),
});

/** A parsed input of Edit. */
export interface EditArguments {
  readonly file_path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}
