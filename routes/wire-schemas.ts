/**
 * The pieces that the schemas of several doors share: ids, and numbers in a query.
 */
import { z } from 'zod';
import type { Limits } from '../config/limits.ts';

/** An id from outside: judged by charset before anything else sees it. */
export function idSchema(limits: Pick<Limits, 'idChars'>) {
  const pattern = new RegExp(`^[A-Za-z0-9_-]{1,${limits.idChars}}$`);
  return z.string().regex(pattern, `must be 1 to ${limits.idChars} characters of A-Z, a-z, 0-9, "_" and "-"`);
}

/** A whole number in a query, where all is text. */
export function queryNumber(options: { readonly least: number; readonly most: number }) {
  return z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(options.least).max(options.most));
}
