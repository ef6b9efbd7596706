/**
 * Step 1: a block becomes an invocation of a tool, or ends with what is wrong with it.
 */
import type { z } from 'zod';
import { cutText } from '../base/cut-text.ts';
import type { JsonValue } from '../base/json.ts';
import type { ToolPool } from '../pool/tool-pool.ts';
import { Invocation, type ToolInput } from '../tool/invocation.ts';
import type { Tool } from '../tool/tool.ts';
import type { ToolUseBlock } from '../wire/blocks.ts';
import { type Ended, ended, failedOutcome } from './outcome.ts';

/** Issues listed before the rest is only counted. */
const MAX_ISSUES = 20;

/** Longest line about one issue: names of fields are the caller's, and may be as long as a body. */
const ISSUE_CHARS = 1_000;

/** Unknown fields that are named. */
const MAX_KEYS = 20;

/** Forms of a union that are named. */
const MAX_BRANCHES = 5;

/** Which tools there are, and which of them gives the schemas of deferred ones. */
export interface ParseServices {
  readonly pool: ToolPool;
  readonly schemaTool?: string;
}

/** What parsing comes to. */
export type Parsed = { readonly kind: 'parsed'; readonly invocation: Invocation } | Ended;

/** Find a block's tool, by name or alias, and parse its input. */
export function parseBlock(block: ToolUseBlock, services: ParseServices): Parsed {
  const tool = services.pool.lookup(block.name);
  return tool ? parseInput(block, tool, block.input, services) : noSuchTool(block.name, services.pool);
}

/** Parse an input for a known tool: of a block, or what a hook, a tool or a person put in its place. */
export function parseInput(
  block: ToolUseBlock,
  tool: Tool,
  input: JsonValue | ToolInput,
  services: ParseServices,
): Parsed {
  const result = tool.inputSchema.safeParse(withoutInternalFields(tool, input));
  if (result.success) return { kind: 'parsed', invocation: new Invocation(block, tool, result.data) };
  const schemaTool = services.pool.isDeferred(tool) ? services.schemaTool : undefined;
  return ended(failedOutcome('invalid_input', validationErrorText(tool.name, result.error.issues, schemaTool)));
}

function withoutInternalFields(tool: Tool, input: unknown): unknown {
  const fields = tool.internalFields;
  if (!fields || typeof input !== 'object' || input === null) return input;
  return Object.fromEntries(Object.entries(input).filter(([field]) => !fields.includes(field)));
}

function noSuchTool(name: string, pool: ToolPool): Ended {
  const hidden = pool.hiddenTool(name);
  if (hidden)
    return ended(failedOutcome(hidden.cause === 'deny rule' ? 'permission_denied' : 'unknown_tool', hidden.message));
  const alike = pool.tools.find((tool) => tool.name.toLowerCase() === name.toLowerCase());
  const advice = alike ? `; did you mean "${alike.name}"?` : ': use one of the listed tools';
  return ended(failedOutcome('unknown_tool', `There is no tool "${name}"${advice}`));
}

type Issue = z.core.$ZodIssue;

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
