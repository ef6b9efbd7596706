/**
 * A line of the table: what was measured, what was to be reached, what came out.
 */

/** One measurement. */
export interface Row {
  readonly what: string;
  /** In words: `at most 1.5 floor`. */
  readonly toReach: string;
  /** In words, with both sides where there are two. */
  readonly measured: string;
  /** undefined: it only explains another row. */
  readonly isReached: boolean | undefined;
}

/** A number with three significant digits. */
export function short(value: number): string {
  return value >= 1_000 ? String(Math.round(value)) : value.toPrecision(3);
}

/** Print rows as a Markdown table. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => [row.what, row.toReach, row.measured, reachedWord(row)]);
  const lines = [['what', 'to reach', 'measured', 'reached'], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const drawn = lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [drawn[0], rule, ...drawn.slice(1)].join('\n');
}

function reachedWord({ isReached }: Row): string {
  if (isReached === undefined) return '';
  return isReached ? 'yes' : 'NO';
}
