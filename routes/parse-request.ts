/**
 * Validates every part of a request against its Zod schema.
 */
import type * as z from 'zod';
import { GauntletError } from '../src/base/errors.ts';
import { checkFields } from '../src/wire/field-issues.ts';

/**
 * Issues told of one request that does not fit its schema: more would be mended one by one all the same. */
const MAX_ISSUES = 20;

/** Longest useful list in any request. A schema validates every entry before it checks the length, which takes seconds
 * for millions.
 */
const MAX_LIST_ENTRIES = 10_000;

/**
 * Validate `value` against `schema`.
 *
 * @param what Name of the value in messages: "the body", "the query", "the address".
 * @throws {GauntletError} `invalid_request`, naming each field by its path; `details.path` is the first.
 */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  refuseLongLists(value, what);
  const check = checkFields(schema, value);
  if (check.kind === 'fits') return check.value;
  const issues = check.issues.slice(0, MAX_ISSUES);
  const list = issues.map(({ path, message }) => (path === '' ? message : `"${path}": ${message}`)).join('; ');
  const path = issues[0]?.path;
  throw new GauntletError('invalid_request', `Cannot read ${what}: ${list}`, {
    details: { ...(path && { path }), issues },
  });
}

/** Reject lists that are too long to validate, in the fields of a request and one level below. */
function refuseLongLists(value: unknown, what: string, prefix = '', levelsLeft = 2): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const [name, field] of Object.entries(value)) {
    const path = `${prefix}${name}`;
    if (Array.isArray(field) && field.length > MAX_LIST_ENTRIES) {
      const message = `holds ${field.length} entries, and ${MAX_LIST_ENTRIES} are read at most`;
      throw new GauntletError('invalid_request', `Cannot read ${what}: "${path}": ${message}`, {
        details: { path, issues: [{ path, message }] },
      });
    }
    if (levelsLeft > 1) refuseLongLists(field, what, `${path}.`, levelsLeft - 1);
  }
}
