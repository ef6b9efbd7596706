/**
 * Numbers in a query, where all is text.
 */
import * as z from 'zod';

/** A whole number, at least `least`; what is over `most` counts as `most`, as pages of any size do. */
export function queryNumber(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  return z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number')
    .transform(Number)
    .pipe(z.number().min(least))
    .transform((asked) => Math.min(asked, most));
}
