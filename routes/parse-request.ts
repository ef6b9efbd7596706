/**
 * One function that fits what a client sent to a Zod schema, for every door.
 */
import type { z } from 'zod';
import type { Limits } from '../config/limits.ts';
import { GauntletError } from '../src/contract/errors.ts';

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
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues
    .slice(0, limits.requestIssues)
    .map((issue) => ({ path: pathOf(issue.path), message: issue.message }));
  const list = issues.map(({ path, message }) => (path === '' ? message : `"${path}": ${message}`)).join('; ');
  const path = issues[0]?.path;
  throw new GauntletError('invalid_request', `Cannot read ${what}: ${list}`, {
    details: { ...(path && { path }), issues },
  });
}

/** `tool_uses[0].id` */
function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
