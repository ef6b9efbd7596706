/** What ToolSearch takes. */
import { z } from 'zod';
import type { Limits } from '../../../config/limits.ts';

const DEFAULT_RESULTS = 5;

/** The input, bounded by `limits`. */
export function toolSearchInput(limits: Pick<Limits, 'queryChars' | 'foundTools'>) {
  return z.strictObject({
    query: z
      .string()
      .min(1)
      .max(limits.queryChars)
      .describe('"select:NameA,NameB" to load tools by name, or words to search for; "+word" must match'),
    max_results: z
      .int()
      .min(1)
      .max(limits.foundTools)
      .default(DEFAULT_RESULTS)
      .describe(`Most tools to find by words (default ${DEFAULT_RESULTS})`),
  });
}

/** A parsed input. */
export type ToolSearchArguments = ReturnType<typeof toolSearchInput>['_output'];
