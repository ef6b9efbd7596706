/**
 * Step 1, parsing: converts a block to an invocation of a tool, or ends the call with the problem.
 */
import type * as z from 'zod';
import { cutText } from '../base/cut-text.ts';
import type { JsonValue } from '../base/json.ts';
import type { ToolPool } from '../pool/tool-pool.ts';
import { Invocation, type ToolInput } from '../tool/invocation.ts';
import type { Tool } from '../tool/tool.ts';
import type { ToolUseBlock } from '../wire/blocks.ts';
import { type Ended, ended, failedOutcome } from './outcome.ts';

/** Maximum of issues listed; the rest is only counted. */
const MAX_ISSUES = 20;

/** Longest line about one issue, in characters: field names are the caller's, and may be as long as a body. */
const ISSUE_CHARS = 1_000;

/** Maximum of unknown fields listed. */
const MAX_KEYS = 20;

/** Maximum of union branches listed. */
const MAX_BRANCHES = 5;

/** The tools, and the name of the one that returns deferred schemas. */
export interface ParseServices {
  readonly pool: ToolPool;
  /** True for an inner call, which can use tools that the list hides. */
  readonly isInner?: boolean;
  readonly schemaTool?: string;
}

/** Result of parsing. */
export type Parsed = { readonly kind: 'parsed'; readonly invocation: Invocation } | Ended;

/** Find a block's tool, by name or alias, and parse its input. */
export function parseBlock(block: ToolUseBlock, services: ParseServices): Parsed {
  const { pool, isInner } = services;
  const tool = isInner === true ? pool.lookupInner(block.name) : pool.lookup(block.name);
  return tool ? parseInput(block, tool, block.input, services) : noSuchTool(block.name, services.pool);
}

/**
 * Parse an input of a known tool: of a block, or a replacement by a hook, a tool or a person.
 *
 * @param isByPerson The person who was asked made it: it may have fields that nobody else can set.
 */
export function parseInput(
  block: ToolUseBlock,
  tool: Tool,
  input: JsonValue | ToolInput,
  services: ParseServices,
  isByPerson = false,
): Parsed {
  const result = parseLeniently(tool, withoutReservedFields(tool, input, isByPerson));
  if (result.success) return { kind: 'parsed', invocation: new Invocation(block, tool, result.data) };
  const schemaTool = services.pool.isDeferred(tool) ? services.schemaTool : undefined;
  return ended(failedOutcome('invalid_input', validationErrorText(tool.name, result.error.issues, schemaTool)));
}

/**
 * Parse an input. Models in strict mode send every optional field, as `null` or as the empty value of its type: where the
 * schema refuses that value, the field counts as absent. A required field never does, since the input then fails again.
 */
function parseLeniently({ inputSchema, origin }: Tool, input: unknown): z.ZodSafeParseResult<ToolInput> {
  const first = inputSchema.safeParse(input);
  if (first.success) return first;
  // What a tool of others does without a field is not known: only null says that the model means none.
  const stripped = withoutRefusedEmpties(input, first.error.issues, origin === undefined ? [null, '', 0] : [null]);
  const second = stripped === undefined ? first : inputSchema.safeParse(stripped);
  return second.success ? second : first;
}

/** Remove the fields whose value is one of `empties` and has an issue. @returns `undefined` if there are none */
function withoutRefusedEmpties(input: unknown, issues: readonly Issue[], empties: readonly unknown[]): unknown {
  let stripped: unknown;
  for (const { path } of issues) {
    const key = path.at(-1);
    if (key === undefined || !holdsEmpty(memberAt(input, path.slice(0, -1)), key, empties)) continue;
    stripped ??= structuredClone(input);
    Reflect.deleteProperty(memberAt(stripped, path.slice(0, -1)) as object, key);
  }
  return stripped;
}

function holdsEmpty(holder: unknown, key: PropertyKey, empties: readonly unknown[]): boolean {
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return false;
  return Object.hasOwn(holder, key) && empties.includes((holder as Record<PropertyKey, unknown>)[key]);
}

function memberAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (node, key) =>
      typeof node === 'object' && node !== null && Object.hasOwn(node, key)
        ? (node as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  );
}

function withoutReservedFields(tool: Tool, input: unknown, isByPerson: boolean): unknown {
  const { internalFields = [], personFields = [] } = tool;
  const fields = isByPerson ? internalFields : [...internalFields, ...personFields];
  if (fields.length === 0 || typeof input !== 'object' || input === null) return input;
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
 * Describe the issues of an input.
 *
 * @param toolName Name that the model used.
 * @param issues Zod's issues, at least one.
 * @param schemaTool For a deferred tool: the name of the tool that returns its schema.
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
  // Arguments of a model that are not valid JSON arrive as text.
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

/** List the first issue of each branch of a union, in one line: the model must satisfy one of them. */
function wordUnion(branches: readonly (readonly Issue[])[]): string {
  const words = branches.flatMap(([issue]) => {
    if (!issue) return [];
    return [issue.path.length > 0 ? `${pathOf(issue.path)} ${wordIssue(issue)}` : wordIssue(issue)];
  });
  return [...new Set(words)].slice(0, MAX_BRANCHES).join('; or ');
}
