/** Input schema of Grep, named after the options of ripgrep. */
import * as z from 'zod';

const lineCount = z.int().min(0).max(10_000).optional();

/** Input of Grep. */
export const GrepInput = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(10_000)
    .describe('The regular expression to search file contents for (ripgrep syntax)'),
  path: z.string().min(1).optional().describe('File or folder to search in. Defaults to the working directory'),
  glob: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe('Only files that match this glob, such as "*.js" or "*.{ts,tsx}" (rg --glob)'),
  type: z
    .string()
    .regex(/^[a-z0-9]+$/, 'Use a type ripgrep knows, such as "js", "py" or "rust"')
    .optional()
    .describe('Only files of this type, such as js, py, rust, go, java (rg --type)'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .optional()
    .describe(
      '"content" shows matching lines, "files_with_matches" shows file paths (default), "count" shows how often each file matches',
    ),
  '-A': lineCount.describe('Lines to show after each match. Needs output_mode "content"'),
  '-B': lineCount.describe('Lines to show before each match. Needs output_mode "content"'),
  '-C': lineCount.describe('Lines to show before and after each match. Needs output_mode "content"'),
  context: lineCount.describe('The same as -C'),
  '-n': z.boolean().optional().describe('Show line numbers (default true). Needs output_mode "content"'),
  '-i': z.boolean().optional().describe('Ignore case'),
  '-o': z.boolean().optional().describe('Show only the matching part of each line. Needs output_mode "content"'),
  head_limit: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Show only the first so many lines or entries, as "| head -N" would (default 250). 0 shows all: use it sparingly',
    ),
  offset: z
    .int()
    .min(0)
    .optional()
    .describe('Skip the first so many lines or entries before head_limit counts (default 0)'),
  multiline: z
    .boolean()
    .optional()
    .describe('Let . match line ends, and patterns span lines (rg -U --multiline-dotall; default false)'),
});

/** A parsed input of Grep. */
export type GrepArguments = z.output<typeof GrepInput>;
