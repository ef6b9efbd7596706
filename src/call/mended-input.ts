/**
 * Step 1, second try: values in a form that models often send in place of the one that was asked for.
 *
 * Only what the schema refused is touched, and what comes of it is parsed anew: nothing passes that the
 * schema does not take, and rules, hooks and people see it as it will run.
 */
import type { z } from 'zod';
import { isDeeperThan } from '../contract/safe-json.ts';

type Issue = Pick<z.core.$ZodIssue, 'path'> & { readonly expected?: string };

/** Levels of a list or an object that came as text; no deeper one is asked for anywhere. */
const MOST_LEVELS = 16;

/**
 * Mend an input that its schema refused: a number, a boolean or a list in quotes becomes one, and a field that is null
 * counts as left out.
 *
 * @param issues What the schema said.
 * @param isEmptyAbsent Whether an empty text counts as left out too: what a stranger's tool makes of that, nobody knows.
 * @returns A copy to parse again; undefined when there is nothing to mend.
 */
export function mendedInput(input: unknown, issues: readonly Issue[], isEmptyAbsent: boolean): unknown {
  const copy: unknown = structuredClone(input);
  // Each issue is tried, also after the first that could be mended.
  return issues.filter((issue) => mend(copy, issue, isEmptyAbsent)).length > 0 ? copy : undefined;
}

function mend(input: unknown, { path, expected }: Issue, isEmptyAbsent: boolean): boolean {
  const key = path.at(-1);
  const holder = path.slice(0, -1).reduce(memberOf, input);
  if (key === undefined || !isHolder(holder) || !Object.hasOwn(holder, key)) return false;
  const value = holder[key];
  if (value === null || (value === '' && isEmptyAbsent))
    return !Array.isArray(holder) && Reflect.deleteProperty(holder, key);
  const meant = typeof value === 'string' ? valueInQuotes(value, expected) : undefined;
  if (meant !== undefined) holder[key] = meant;
  return meant !== undefined;
}

function valueInQuotes(text: string, expected: string | undefined): unknown {
  switch (expected) {
    case 'number':
      return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : undefined;
    case 'array':
    case 'object':
      return structureInQuotes(text);
    default:
      return undefined;
  }
}

function structureInQuotes(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isHolder(value) && !isDeeperThan(value, MOST_LEVELS) ? value : undefined;
  } catch {
    // It is no JSON: the schema's own words say what is wanted.
    return undefined;
  }
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  return isHolder(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function isHolder(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}
