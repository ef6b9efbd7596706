/** Input of LSP. */
import * as z from 'zod';

const MAX_LINE = 10_000_000;

/** Schema of the input. */
export const LspInput = z.strictObject({
  operation: z
    .enum(['definition', 'references', 'hover', 'symbols', 'diagnostics'])
    .describe('What to ask: definition, references and hover need line and character'),
  filePath: z.string().min(1).describe('The file, absolute or relative to the working directory'),
  line: z.int().min(1).max(MAX_LINE).optional().describe('Line of the name, from 1'),
  character: z.int().min(1).max(MAX_LINE).optional().describe('Column of the first letter of the name, from 1'),
});

/** A parsed input. */
export type LspArguments = z.output<typeof LspInput>;
