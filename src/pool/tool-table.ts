/**
 * The tool list as aligned plain text, for people.
 */
import { promptOptions } from './describe.ts';
import type { ToolPool } from './tool-pool.ts';
import type { Tool } from '../tool/tool.ts';

const HEAD = ['NAME', 'SOURCE', 'LOADED', 'DESCRIPTION'];

/** One line a tool under a line of headings, columns two blanks apart. */
export function toolTable(pool: ToolPool): string {
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
