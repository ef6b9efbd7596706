/**
 * One function that fits what a client sent to a Zod schema, for every door.
 */
import type { z } from 'zod';
import type { Limits } from '../config/limits.ts';
import { GauntletError } from '../src/contract/errors.ts';
import { checkFields } from '../src/contract/field-issues.ts';

/**
 * Fit `value` to `schema`.
 *
 * @param what Names the thing in messages: "the body", "the query", "the address".
 * @throws {GauntletError} `invalid_request`, naming each field by its path; `details.path` is the first.
 */
export function parseRequest<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
  limits: Pick<Limits, 'requestIssues'>,
): z.output<Schema> {
  const check = checkFields(schema, value);
  if (check.kind === 'fits') return check.value;
  const issues = check.issues.slice(0, limits.requestIssues);
  const list = issues.map(({ path, message }) => (path === '' ? message : `"${path}": ${message}`)).join('; ');
  const path = issues[0]?.path;
  throw new GauntletError('invalid_request', `Cannot read ${what}: ${list}`, {
    details: { ...(path && { path }), issues },
  });
}
