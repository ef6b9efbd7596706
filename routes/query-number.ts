/**
 * Parses numbers in a query.
 */
import * as z from 'zod';

/**
 * Create a schema of a whole number, at least `least`; a larger number than `most` becomes `most`, since a page may
 * have any smaller size.
 */
export function queryNumber(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  return z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number')
    .transform(Number)
    .pipe(z.number().min(min))
    .transform((asked) => Math.min(asked, max));
}
