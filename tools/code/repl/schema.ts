/** Input of REPL. */
import * as z from 'zod';

/** Time for code where none is given. */
export const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;
const MAX_CODE_CHARS = 100_000;

/** Schema of the input. */
export const ReplInput = z.strictObject({
  code: z.string().min(1).max(MAX_CODE_CHARS).describe('JavaScript; await is allowed everywhere'),
  description: z.string().max(1_000).optional().describe('What the code does, in five to ten words'),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .default(DEFAULT_TIMEOUT_MS)
    .describe('Milliseconds for the code itself; the time of tool calls does not count'),
});

/** A parsed input. */
export type ReplArguments = z.output<typeof ReplInput>;
