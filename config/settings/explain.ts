/**
 * Turns an issue of Zod into one line that names the key and the fix.
 */
import type * as z from 'zod';
import { SettingsError } from '../settings-error.ts';

/** Path of an issue, outermost key first. */
type IssuePath = readonly PropertyKey[];

/**
 * Check `value`.
 *
 * @param place Said after the key (` in "/etc/gauntlet.json"`); empty for the environment.
 * @param nameOf The key's name, from its path.
 * @throws {SettingsError} With the first thing that is wrong. The value is never repeated: it may be a secret.
 */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: string,
  nameOf: (path: IssuePath) => string = (path) => path.join('.'),
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (!issue) throw new TypeError('Zod failed without an issue');
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path;
  const key = nameOf(path);
  throw new SettingsError(key, `${key ? `"${key}"` : 'The file'}${place} ${explain(issue)}`);
}

function explain(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${NOUN[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'invalid_union':
      return issue.discriminator === undefined ? alternatives(issue) : `must have a known "${issue.discriminator}"`;
    case 'invalid_format':
      return issue.format === 'url' ? 'must be an http or https address' : issue.message;
    default:
      return issue.message;
  }
}

/** Expectations of the alternatives of a union, without duplicates. */
function alternatives(issue: z.core.$ZodIssueInvalidUnion): string {
  const wanted = issue.errors.flatMap(([first]) => (first ? [explain(first)] : []));
  return [...new Set(wanted)].join(', or ') || 'has the wrong shape';
}

const NOUN: Readonly<Record<string, string>> = {
  string: 'a text in quotes',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};
