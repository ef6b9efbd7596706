/** Input schema of Glob. */
import * as z from 'zod';

/** Input of Glob. */
export const GlobInput = z.strictObject({
  pattern: z.string().min(1).max(1_000).describe('The glob pattern to match file paths against, such as "**/*.ts"'),
  path: z
    .string()
    .min(1)
    .optional()
    .describe('The folder to search in. Leave it out for the working directory; do not write "undefined" or "null"'),
});

/** A parsed input of Glob. */
export type GlobArguments = z.output<typeof GlobInput>;
