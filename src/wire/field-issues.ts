/**
 * Checks what came over the wire against a Zod schema, and says in words which fields do not fit and why.
 */
import * as z from 'zod';
import { nearestKey } from '../../config/settings/section.ts';
import { cutText } from '../base/cut-text.ts';

/** A field that does not fit its schema. */
export interface FieldIssue {
  /** As `tool_uses[0].id`; empty for the value itself. */
  readonly path: string;
  /** Follows the path: `is required`. */
  readonly message: string;
}

/** The outcome of a check. `issues` is never empty. */
export type FieldCheck<Value> =
  { readonly kind: 'fits'; readonly value: Value } | { readonly kind: 'unfit'; readonly issues: readonly FieldIssue[] };

/** Unknown keys that are named. A body may hold a million. */
const MAX_NAMED_KEYS = 20;

/** Issues that are worded and told. A list of a thousand entries may have one each. */
const MAX_WORDED_ISSUES = 100;

/** Longest part of an unknown key that is compared and repeated: the time to compare grows with it. */
const MAX_KEY_CHARS = 100;

/** Check `value` against `schema`. Unknown keys come first: a misspelt required field is also missing. */
export function checkFields<Schema extends z.ZodType>(schema: Schema, value: unknown): FieldCheck<z.output<Schema>> {
  const quick = schema.safeParse(value);
  if (quick.success) return { kind: 'fits', value: quick.data };
  // Only what does not fit is worded: an error map costs each parse some 2 µs, as much as a small body.
  const isShort = quick.error.issues.length <= MAX_WORDED_ISSUES;
  const worded = isShort ? schema.safeParse(value, { error: wordIssue }).error : undefined;
  const issues = (worded ?? quick.error).issues.slice(0, MAX_WORDED_ISSUES);
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? unknownKeys(issue.path, issue.keys, issue.message) : [],
  );
  const others = issues.flatMap(({ code, path, message }) =>
    code === 'unrecognized_keys' ? [] : [{ path: pathText(path), message }],
  );
  return { kind: 'unfit', issues: [...unknown, ...others] };
}

/** One issue a key. @param message One line a key, in the same order. */
function unknownKeys(path: readonly PropertyKey[], keys: readonly string[], message: string): readonly FieldIssue[] {
  const lines = message.split('\n');
  return namedKeys(keys).map((key, index) => ({
    path: pathText([...path, key]),
    message: lines[index] ?? 'is not a known field',
  }));
}

function namedKeys(keys: readonly string[]): readonly string[] {
  return keys.slice(0, MAX_NAMED_KEYS).map((key) => cutText(key, MAX_KEY_CHARS));
}

/** Words an issue where Zod's own words would not help; undefined leaves them. */
function wordIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys') {
    const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
    return namedKeys(issue.keys)
      .map((key) => wordUnknownKey(key, known))
      .join('\n');
  }
  if (issue.code === 'invalid_union' && typeof issue.discriminator === 'string') {
    const isMissing = (issue.input as Readonly<Record<string, unknown>>)[issue.discriminator] === undefined;
    if (isMissing) return 'is required';
    const options = Array.isArray(issue.options) ? (issue.options as readonly unknown[]) : [];
    return `expected one of ${options.map((option) => `"${String(option)}"`).join(', ')}`;
  }
  return issue.input === undefined ? 'is required' : undefined;
}

function wordUnknownKey(key: string, known: readonly string[]): string {
  const nearest = nearestKey(key, known);
  if (nearest !== undefined) return `is not a known field; did you mean "${nearest}"?`;
  return `is not a known field; ${known.length === 0 ? 'none is taken here' : `known here: ${known.join(', ')}`}`;
}

/** `tool_uses[0].id` */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
