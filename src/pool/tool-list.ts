/** Renders the reply to `GET /tools` as bytes, cached per pool and variant. */
import { createHash } from 'node:crypto';
import type { Tool } from '../tool/tool.ts';
import { describeEntry, ENTRY_FORMATS, type EntryFormat, promptOptions, type SchemaChoice } from './describe.ts';
import type { ToolEntry } from '../wire/server-replies.ts';
import type { ToolPool } from './tool-pool.ts';

const HEAD = ['NAME', 'SOURCE', 'LOADED', 'DESCRIPTION'];

/** Values of `format`. */
export const LIST_FORMATS = [...ENTRY_FORMATS, 'table'] as const;

/** Requested variant of a list. */
export interface ListVariant {
  readonly format: EntryFormat | 'table';
  readonly schemas: SchemaChoice;
}

/** A rendered reply. */
export interface ToolList {
  readonly body: Buffer;
  readonly contentType: string;
  /** Strong ETag, quoted. */
  readonly etag: string;
}

const lists = new WeakMap<ToolPool, Map<string, ToolList>>();

/** Render the list of `pool`. The same pool and variant return the same object. */
export function toolList(pool: ToolPool, variant: ListVariant): ToolList {
  const variants = lists.get(pool) ?? new Map<string, ToolList>();
  lists.set(pool, variants);
  const key = `${variant.format} ${variant.schemas}`;
  const list = variants.get(key) ?? render(pool, variant);
  variants.set(key, list);
  return list;
}

/** Describe one tool in full, hidden or not; undefined if no tool has this name or alias. */
export function toolInFull(pool: ToolPool, nameOrAlias: string): ToolEntry | undefined {
  const tool = pool.lookup(nameOrAlias) ?? pool.hiddenTool(nameOrAlias)?.tool;
  return tool && describeEntry(tool, pool, 'full', 'full');
}

function render(pool: ToolPool, { format, schemas }: ListVariant): ToolList {
  if (format === 'table') return ready(toolTable(pool), 'text/plain; charset=utf-8');
  const shown = format === 'full' ? [...pool.tools, ...pool.hidden.map(({ tool }) => tool)] : pool.tools;
  const reply = {
    tools: shown.map((tool) => describeEntry(tool, pool, format, schemas)),
    built_in_count: pool.builtInCount,
    mcp_count: pool.mcpCount,
    ...(pool.sessionCount > 0 && { session_count: pool.sessionCount }),
    deferred_count: pool.tools.filter((tool) => pool.isDeferred(tool)).length,
    prefix_sha256: pool.prefixSha256,
  };
  return ready(JSON.stringify(reply), 'application/json; charset=utf-8');
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
