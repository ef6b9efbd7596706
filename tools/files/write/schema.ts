/** What Write takes. */
import { z } from 'zod';

/** Input of Write. */
export const WriteInput = z.strictObject({
  file_path: z
    .string()
    .min(1)
    .describe(
      'The file to write: an absolute path, or one relative to the working directory. Missing folders are created',
    ),
  content: z.string().describe('The whole content of the file'),
});

/** A parsed input of Write. */
export interface WriteArguments {
  readonly file_path: string;
  readonly content: string;
}
