/** Renders the reply to `GET /tools` as bytes, cached per pool and variant. */
import { createHash } from 'node:crypto';
import type { Tool } from '../tool/tool.ts';
import type * as z from 'zod';
import {
  describeEntry,
  ENTRY_FORMATS,
  type EntryForm,
  type EntryFormat,
  promptOptions,
  type SchemaChoice,
} from './describe.ts';
import { UnusableSchema } from './provider-schema.ts';
import type { ToolEntry, Tools } from '../wire/server-replies.ts';
import type { ToolPool } from './tool-pool.ts';

const HEAD = ['NAME', 'SOURCE', 'LOADED', 'DESCRIPTION'];

/** Values of `format`. */
export const LIST_FORMATS = [...ENTRY_FORMATS, 'table'] as const;

/** Requested variant of a list. */
export interface ListVariant {
  readonly format: EntryFormat | 'table';
  readonly schemas: SchemaChoice;
  readonly isStrict?: boolean;
  /** The only tools that are wanted, by name or alias. */
  readonly names?: readonly string[];
  /** Most tools, the first ones of the list. */
  readonly max?: number;
}

/** A tool that is missing in a list. */
type LeftOut = NonNullable<z.output<typeof Tools>['left_out']>[number];

/** Tools that OpenAI takes in one request. */
const MAX_OPENAI_TOOLS = 128;

/** Names that all providers take. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** A rendered tool, or why there is none. */
type EntryText =
  { readonly kind: 'entry'; readonly json: string } | { readonly kind: 'left out'; readonly reason: string };

/** Forms of one tool whose text is kept: those of the providers that one server is used with. */
const MAX_FORMS = 4;

/** Texts by definition of a tool, then by form: rewriting the schemas of a thousand tools takes seconds. */
const entryTexts = new WeakMap<Tool, Map<string, EntryText>>();

/** A rendered reply. */
export interface ToolList {
  readonly body: Buffer;
  readonly contentType: string;
  /** Strong ETag, quoted. */
  readonly etag: string;
}

interface CachedList {
  readonly preamble: string | undefined;
  readonly list: ToolList;
}

const lists = new WeakMap<ToolPool, Map<string, CachedList>>();

/**
 * Render the list of `pool`. The same pool, variant and preamble return the same object.
 *
 * @param preamble Words about the tools that are in no tool's description.
 */
export function toolList(pool: ToolPool, variant: ListVariant, preamble?: string): ToolList {
  const variants = lists.get(pool) ?? new Map<string, CachedList>();
  lists.set(pool, variants);
  // The client chooses these: their lists are not kept.
  if (variant.names !== undefined || variant.max !== undefined) return render(pool, variant, preamble);
  const key = `${variant.format} ${variant.schemas} ${variant.isStrict === true}`;
  const known = variants.get(key);
  if (known && known.preamble === preamble) return known.list;
  const list = render(pool, variant, preamble);
  variants.set(key, { preamble, list });
  return list;
}

/** Describe one tool in full, hidden or not; undefined if no tool has this name or alias. */
export function toolInFull(pool: ToolPool, nameOrAlias: string): ToolEntry | undefined {
  const tool = pool.lookup(nameOrAlias) ?? pool.hiddenTool(nameOrAlias)?.tool;
  return tool && describeEntry(tool, pool, { format: 'full', schemas: 'full' });
}

function render(pool: ToolPool, variant: ListVariant, preamble: string | undefined): ToolList {
  const { format } = variant;
  if (format === 'table') return ready(toolTable(pool), 'text/plain; charset=utf-8');
  const all = format === 'full' ? [...pool.tools, ...pool.hidden.map(({ tool }) => tool)] : pool.tools;
  const leftOut: LeftOut[] = [];
  const shown = new Map<Tool, string>();
  const { max = format.startsWith('openai-') ? MAX_OPENAI_TOOLS : Infinity } = variant;
  for (const tool of wantedTools(all, variant.names, leftOut)) {
    const entry: EntryText =
      shown.size >= max
        ? { kind: 'left out', reason: `the list holds ${max} tools at most; choose with "names"` }
        : entryText(tool, pool, { ...variant, format });
    if (entry.kind === 'left out') leftOut.push({ name: tool.name, reason: entry.reason });
    else shown.set(tool, entry.json);
  }
  const count = (from: number, to: number) => pool.tools.slice(from, to).filter((tool) => shown.has(tool)).length;
  const { builtInCount, mcpCount } = pool;
  const counts = {
    built_in_count: count(0, builtInCount),
    mcp_count: count(builtInCount, builtInCount + mcpCount),
    ...(pool.sessionCount > 0 && { session_count: count(builtInCount + mcpCount, pool.tools.length) }),
    deferred_count: pool.tools.filter((tool) => shown.has(tool) && pool.isDeferred(tool)).length,
    prefix_sha256: pool.prefixSha256,
    ...(preamble !== undefined && { preamble }),
    ...(leftOut.length > 0 && { left_out: leftOut }),
  };
  const text = `{"tools":[${[...shown.values()].join()}],${JSON.stringify(counts).slice(1)}`;
  return ready(text, 'application/json; charset=utf-8');
}

/** Select the tools with these names; all without names. Names of none are told in `leftOut`. */
function wantedTools(
  tools: readonly Tool[],
  names: readonly string[] | undefined,
  leftOut: LeftOut[],
): readonly Tool[] {
  if (names === undefined) return tools;
  const named = (tool: Tool) => [tool.name, ...(tool.aliases ?? [])];
  const found = tools.filter((tool) => named(tool).some((name) => names.includes(name)));
  const known = new Set(found.flatMap(named));
  for (const name of names) if (!known.has(name)) leftOut.push({ name, reason: 'no tool of this list has the name' });
  return found;
}

/** Return the entry of a tool, rendered once for each form of its definition. */
function entryText(tool: Tool, pool: ToolPool, form: EntryForm): EntryText {
  // Shows the state of the tool in this pool.
  if (form.format === 'full') return renderEntry(tool, pool, form);
  const forms = entryTexts.get(tool) ?? new Map<string, EntryText>();
  entryTexts.set(tool, forms);
  const { format, schemas, isStrict = false } = form;
  const key = [format, schemas, isStrict, pool.isDeferred(tool), sessionWords(tool, pool)].join(' ');
  const known = forms.get(key);
  if (known) return known;
  const entry = renderEntry(tool, pool, form);
  const [oldest] = forms.keys();
  if (forms.size >= MAX_FORMS && oldest !== undefined) forms.delete(oldest);
  forms.set(key, entry);
  return entry;
}

/** Return what a tool tells a model in this session; a tool of a server tells the same in all. */
function sessionWords(tool: Tool, pool: ToolPool): string {
  if (tool.origin?.type === 'mcp') return '';
  try {
    return tool.prompt(promptOptions(pool));
  } catch {
    // It has no entry either.
    return '';
  }
}

/** Render an entry; one that the API would refuse is left out, since it would spoil the whole request. */
function renderEntry(tool: Tool, pool: ToolPool, form: EntryForm): EntryText {
  const isForModel = form.format !== 'mcp' && form.format !== 'full';
  if (isForModel && !TOOL_NAME.test(tool.name))
    return { kind: 'left out', reason: 'its name is not 1 to 64 letters, digits, "_" and "-"' };
  try {
    return { kind: 'entry', json: JSON.stringify(describeEntry(tool, pool, form)) };
  } catch (error) {
    const reason = error instanceof UnusableSchema ? error.message : 'its schema cannot be written as JSON Schema';
    return { kind: 'left out', reason };
  }
}

function ready(text: string, contentType: string): ToolList {
  const body = Buffer.from(text);
  const digest = createHash('sha256').update(body).digest('base64url');
  return { body, contentType, etag: `"${digest}"` };
}

/** Format one line per tool below a line of headings, with two blanks between columns. */
function toolTable(pool: ToolPool): string {
  const options = promptOptions(pool);
  const rows = pool.tools.map((tool) => [
    tool.name,
    source(tool),
    pool.isDeferred(tool) ? 'deferred' : 'yes',
    firstSentence(tool.prompt(options)),
  ]);
  const widths = HEAD.map((head, column) => Math.max(head.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${[HEAD, ...rows].map(line).join('\n')}\n`;
}

function source(tool: Tool): string {
  return tool.origin === undefined ? 'built-in' : `${tool.origin.type} ${tool.origin.name}`;
}

function firstSentence(prompt: string): string {
  const [line = ''] = prompt.trimStart().split('\n', 1);
  const end = line.search(/[.!?](\s|$)/u);
  return end < 0 ? line : line.slice(0, end);
}
