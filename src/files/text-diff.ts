/**
 * Computes the differences between two texts, as hunks to display.
 *
 * Only the lines between the common start and the common end are compared, so that a small edit of a large file is
 * cheap.
 */
import { structuredPatch } from 'diff';
import type { DiffHunk } from '../wire/display.ts';

/** Unchanged lines shown around a change. */
const CONTEXT_LINES = 3;
/** A comparison blocks the event loop: after this long the whole region counts as replaced. */
const COMPARE_MS = 200;
/** Lines of a diff that a result or a listing shows. */
const MAX_DIFF_LINES = 400;
/** Characters compared at once when searching for the first difference. */
const STEP_CHARS = 4_096;

/** Compare two texts line by line. */
export function diffHunks(before: string, after: string): readonly DiffHunk[] {
  if (before === after) return [];
  const start = contextStart(before, commonStart(before, after));
  const tail = commonTail(before, after, start);
  const oldRegion = before.slice(start, before.length - tail);
  const newRegion = after.slice(start, after.length - tail);
  const line = countLineEnds(before, start);
  const patch = structuredPatch('', '', oldRegion, newRegion, undefined, undefined, {
    context: CONTEXT_LINES,
    timeout: COMPARE_MS,
  });
  if (!patch) return [replacedHunk(oldRegion, newRegion, line)];
  return patch.hunks.map((hunk) => ({
    old_start: startLine(hunk.oldStart + line, hunk.oldLines),
    old_lines: hunk.oldLines,
    new_start: startLine(hunk.newStart + line, hunk.newLines),
    new_lines: hunk.newLines,
    lines: hunk.lines,
  }));
}

/** Format hunks as a unified diff, cut after `MAX_DIFF_LINES`. */
export function formatHunks(hunks: readonly DiffHunk[]): string {
  const lines = hunks.flatMap((hunk) => [
    `@@ -${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines} @@`,
    ...hunk.lines,
  ]);
  if (lines.length <= MAX_DIFF_LINES) return lines.join('\n');
  return [...lines.slice(0, MAX_DIFF_LINES), `[cut: ${lines.length - MAX_DIFF_LINES} more lines of this diff]`].join(
    '\n',
  );
}

/**
 * Return the first hunks, with at max `MAX_DIFF_LINES` lines in total; the counts of the last one still describe the whole
 * hunk.
 */
export function firstHunks(hunks: readonly DiffHunk[]): readonly DiffHunk[] {
  let left = MAX_DIFF_LINES;
  const first: DiffHunk[] = [];
  for (const hunk of hunks) {
    if (left <= 0) break;
    first.push(hunk.lines.length <= left ? hunk : { ...hunk, lines: hunk.lines.slice(0, left) });
    left -= hunk.lines.length;
  }
  return first;
}

/** Count added and removed lines. */
export function countChanges(hunks: readonly DiffHunk[]): { readonly added: number; readonly removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  };
}

function commonStart(before: string, after: string): number {
  const max = Math.min(before.length, after.length);
  let at = 0;
  while (at < max && before.slice(at, at + STEP_CHARS) === after.slice(at, at + STEP_CHARS)) at += STEP_CHARS;
  at = Math.min(at, max);
  while (at < max && before.charCodeAt(at) === after.charCodeAt(at)) at++;
  return at;
}

/** Return the start of the line `CONTEXT_LINES` before the first difference. */
function contextStart(text: string, difference: number): number {
  let at = difference;
  for (let lines = 0; lines <= CONTEXT_LINES && at > 0; lines++) at = text.lastIndexOf('\n', at - 1);
  return at > 0 ? at + 1 : 0;
}

/** Count the characters of the common end, beginning at a line end that leaves enough context. */
function commonTail(before: string, after: string, start: number): number {
  const max = Math.min(before.length, after.length) - start;
  const equal = (from: number, to: number) =>
    before.slice(before.length - to, before.length - from) === after.slice(after.length - to, after.length - from);
  let tail = 0;
  while (tail + STEP_CHARS <= max && equal(tail, tail + STEP_CHARS)) tail += STEP_CHARS;
  while (tail < max && equal(tail, tail + 1)) tail++;
  let cut = before.length - tail;
  for (let lines = 0; lines <= CONTEXT_LINES; lines++) {
    const lineEnd = before.indexOf('\n', cut);
    if (lineEnd < 0) return 0;
    cut = lineEnd + 1;
  }
  return before.length - cut;
}

function countLineEnds(text: string, end: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

function replacedHunk(oldRegion: string, newRegion: string, line: number): DiffHunk {
  const removed = splitLines(oldRegion);
  const added = splitLines(newRegion);
  return {
    old_start: startLine(line + 1, removed.length),
    old_lines: removed.length,
    new_start: startLine(line + 1, added.length),
    new_lines: added.length,
    lines: [...removed.map((text) => `-${text}`), ...added.map((text) => `+${text}`)],
  };
}

/** Return the start line of a hunk. An empty region is identified by the line before it, as in any unified diff. */
function startLine(first: number, lines: number): number {
  return lines === 0 ? first - 1 : first;
}

function splitLines(text: string): readonly string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
