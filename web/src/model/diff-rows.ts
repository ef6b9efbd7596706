/**
 * Rows of a diff, unified or side by side, with the part of a changed line that differs.
 */
import type { DiffHunk } from './wire.ts';

/** One side of a row. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly number: number;
  readonly text: string;
  /** Start and end of what differs from the line on the other side. */
  readonly changed?: readonly [number, number];
}

/** A row: of a unified diff with one side set, of one side by side with both where lines match. */
export type DiffRow =
  | { readonly kind: 'hunk'; readonly text: string }
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'line'; readonly left?: DiffLine; readonly right?: DiffLine };

/** Lines of a diff that are drawn. */
export const MAX_DIFF_ROWS = 2_000;
/** Longer lines are not compared letter by letter. */
const MAX_COMPARED_CHARS = 1_000;

/** Rows of a diff with both versions side by side. */
export function splitRows(hunks: readonly DiffHunk[]): DiffRow[] {
  return hunks.flatMap(hunkRows);
}

/** Rows with one line each, removed ones before those added. */
export function unifiedRows(hunks: readonly DiffHunk[]): DiffRow[] {
  const rows: DiffRow[] = [];
  let added: DiffRow[] = [];
  for (const row of [...splitRows(hunks), { kind: 'hunk', text: '' } as const]) {
    const isChange = row.kind === 'line' && row.left?.kind !== 'same';
    if (!isChange) {
      rows.push(...added);
      added = [];
      rows.push(row);
      continue;
    }
    if (row.left) rows.push({ kind: 'line', left: row.left });
    if (row.right) added.push({ kind: 'line', right: row.right });
  }
  return rows.slice(0, -1);
}

/** The diff of the way back. */
export function inverted(hunks: readonly DiffHunk[]): DiffHunk[] {
  return hunks.map(({ old_start, old_lines, new_start, new_lines, lines }) => ({
    ...{ old_start: new_start, old_lines: new_lines, new_start: old_start, new_lines: old_lines },
    lines: removedFirst(lines.map((line) => `${OPPOSITES[line[0] ?? ''] ?? line[0] ?? ''}${line.slice(1)}`)),
  }));
}

/** Count the lines that were added and removed. */
export function countChanges(hunks: readonly DiffHunk[]): { readonly added: number; readonly removed: number } {
  let added = 0;
  let removed = 0;
  for (const line of hunks.flatMap(({ lines }) => lines)) {
    if (line.startsWith('+')) added += 1;
    if (line.startsWith('-')) removed += 1;
  }
  return { added, removed };
}

const OPPOSITES: Readonly<Record<string, string>> = { '+': '-', '-': '+' };

/** Put the removed lines of each change in front of the added ones, with the notes about their ends. */
function removedFirst(lines: readonly string[]): string[] {
  const sorted: string[] = [];
  let added: string[] = [];
  let removed: string[] = [];
  let last = removed;
  for (const line of lines) {
    if (line.startsWith('+')) (last = added).push(line);
    else if (line.startsWith('-')) (last = removed).push(line);
    else if (line.startsWith('\\') && added.length + removed.length > 0) last.push(line);
    else {
      sorted.push(...removed, ...added, line);
      added = [];
      last = removed = [];
    }
  }
  return [...sorted, ...removed, ...added];
}

function hunkRows({ old_start, old_lines, new_start, new_lines, lines }: DiffHunk): DiffRow[] {
  const rows: DiffRow[] = [{ kind: 'hunk', text: `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@` }];
  let oldNumber = old_start;
  let newNumber = new_start;
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    rows.push(...paired(removed, added));
    removed = [];
    added = [];
  };
  for (const line of lines.slice(0, MAX_DIFF_ROWS)) {
    const text = line.slice(1);
    if (line.startsWith('-')) {
      // A removal after an addition begins another change.
      if (added.length > 0) flush();
      removed.push({ kind: 'removed', number: oldNumber++, text });
    } else if (line.startsWith('+')) added.push({ kind: 'added', number: newNumber++, text });
    else {
      flush();
      if (line.startsWith('\\')) rows.push({ kind: 'note', text: text.trim() });
      else {
        const left = { kind: 'same', number: oldNumber++, text } as const;
        rows.push({ kind: 'line', left, right: { kind: 'same', number: newNumber++, text } });
      }
    }
  }
  flush();
  return rows;
}

function paired(removed: readonly DiffLine[], added: readonly DiffLine[]): DiffRow[] {
  const length = Math.max(removed.length, added.length);
  return Array.from({ length }, (_, index) => {
    const left = removed[index];
    const right = added[index];
    if (!left || !right) return { kind: 'line', ...(left && { left }), ...(right && { right }) };
    const [from, leftEnd, rightEnd] = difference(left.text, right.text);
    return {
      kind: 'line',
      left: { ...left, ...(leftEnd > from && { changed: [from, leftEnd] as const }) },
      right: { ...right, ...(rightEnd > from && { changed: [from, rightEnd] as const }) },
    };
  });
}

/** Find what lies between the common beginning and the common end. Lines that have little in common differ whole. */
function difference(left: string, right: string): readonly [number, number, number] {
  const shorter = Math.min(left.length, right.length);
  if (shorter > MAX_COMPARED_CHARS) return [0, 0, 0];
  let from = 0;
  while (from < shorter && left[from] === right[from]) from += 1;
  let same = 0;
  while (same < shorter - from && left.at(-1 - same) === right.at(-1 - same)) same += 1;
  if (from + same < shorter / 3) return [0, 0, 0];
  return [from, left.length - same, right.length - same];
}
