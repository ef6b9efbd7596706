/** Input schema of Bash. */
import * as z from 'zod';
import type { Limits } from '../../../config/limits.ts';

/** Create the input schema of Bash with the time limits of this server. */
export function bashInput({ commandMs, commandMaxMs }: Pick<Limits, 'commandMs' | 'commandMaxMs'>) {
  return z.strictObject({
    command: z.string().min(1).describe('The command line to run'),
    timeout: z
      .int()
      .min(1)
      .max(commandMaxMs)
      .optional()
      .describe(
        `How long it may take, in milliseconds: ${commandMs} by default, at most ${commandMaxMs}. What runs longer is ended with everything it started`,
      ),
    description: z
      .string()
      .optional()
      .describe(
        'What the command does, in 5 to 10 words of the active voice, such as "List files in the current directory"',
      ),
    run_in_background: z
      .boolean()
      .optional()
      .describe('Set to true to let the command run on in the background; read its output later with TaskOutput'),
    dangerouslyDisableSandbox: z
      .boolean()
      .optional()
      .describe('Set to true to run outside the sandbox; a person is asked each time'),
  });
}

/** A parsed input of Bash. */
export type BashArguments = z.output<ReturnType<typeof bashInput>>;
