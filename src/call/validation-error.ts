/**
 * `InputValidationError:` texts: each issue by path, in words a model can act on.
 */
import type { z } from 'zod';
import { cutText } from '../base/cut-text.ts';

type Issue = z.core.$ZodIssue;

/** Issues listed before the rest is only counted. */
const MAX_ISSUES = 20;

/** Longest line about one issue: names of fields are the caller's, and may be as long as a body. */
const ISSUE_CHARS = 1_000;

/** Unknown fields that are named. */
const MAX_KEYS = 20;

/** Forms of a union that are named. */
const MAX_BRANCHES = 5;

/**
 * Word what is wrong with an input.
 *
 * @param toolName As the model called it.
 * @param issues Zod's, at least one.
 * @param schemaTool For a deferred tool: the name of the tool that gives its schema.
 */
export function validationErrorText(toolName: string, issues: readonly Issue[], schemaTool?: string): string {
  const lines = issues
    .slice(0, MAX_ISSUES)
    .map((issue) => cutText(`- ${pathOf(issue.path)}: ${wordIssue(issue)}`, ISSUE_CHARS));
  const more = issues.length > MAX_ISSUES ? [`- and ${issues.length - MAX_ISSUES} more`] : [];
  const advice =
    schemaTool === undefined
      ? []
      : [
          `"${toolName}" is a deferred tool: call ${schemaTool} with "select:${toolName}" for its schema, then try again`,
        ];
  const count = issues.length === 1 ? 'one issue' : `${issues.length} issues`;
  return [`InputValidationError: ${toolName} cannot run, its input has ${count}`, ...lines, ...more, ...advice].join(
    '\n',
  );
}

function pathOf(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>(
    (before, key) =>
      typeof key === 'number' ? `${before}[${key}]` : before === '' ? String(key) : `${before}.${String(key)}`,
    '',
  );
  return text === '' ? '(input)' : `\`${text}\``;
}

function wordIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return wordType(issue);
    case 'unrecognized_keys':
      return wordUnknownKeys(issue.keys);
    case 'invalid_union':
      return wordUnion(issue.errors) || issue.message;
    default:
      return issue.message;
  }
}

function wordType({ input, path, expected, message }: Extract<Issue, { code: 'invalid_type' }>): string {
  if (input === undefined && message.endsWith('received undefined')) return `required, expected ${expected}`;
  // What a model wrote as arguments came as text where it is not JSON.
  const isBrokenJson = path.length === 0 && message.endsWith('received string');
  return isBrokenJson ? `${message}. Arguments that are not valid JSON count as text: send one JSON object` : message;
}

function wordUnknownKeys(keys: readonly string[]): string {
  const named = keys.slice(0, MAX_KEYS).map((key) => `\`${key}\``);
  const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : '';
  return keys.length === 1
    ? `unknown field ${named[0]}; remove it`
    : `unknown fields ${named.join(', ')}${more}; remove them`;
}

/** What each form of a union wants, in one line: the model must choose one of them. */
function wordUnion(branches: readonly (readonly Issue[])[]): string {
  const words = branches.flatMap(([issue]) => {
    if (!issue) return [];
    return [issue.path.length > 0 ? `${pathOf(issue.path)} ${wordIssue(issue)}` : wordIssue(issue)];
  });
  return [...new Set(words)].slice(0, MAX_BRANCHES).join('; or ');
}
