/** Code in Markdown that the tests run: an HTML comment above a block says what becomes of it. */
import { expect } from 'vitest';

/** What a marker says of its block: it starts the server, runs beside it, or is a file or settings it starts with. */
export type Marker = 'starts' | 'runs' | 'file' | 'settings';

/** A block with a marker above it. */
export interface MarkedBlock {
  readonly marker: Marker;
  /** The word behind the marker: the path of a `file`. */
  readonly argument: string;
  readonly code: string;
  /** What the code prints: the `text` block directly below, or nothing. `...` stands for any lines, `…` for any text. */
  readonly output: string;
}

const MARKED = /<!-- (starts|runs|file|settings)(?: (\S+))? -->\n+```\w+\n([^]*?)```(?:\n+```text\n([^]*?)```)?/g;

/** Find the marked blocks of a page, in order. */
export function markedBlocks(markdown: string): readonly MarkedBlock[] {
  return [...markdown.matchAll(MARKED)].map(([, marker, argument = '', code = '', output = '']) => ({
    marker: marker as Marker,
    argument,
    code,
    output,
  }));
}

/**
 * Compare what was printed with what the page says is printed.
 *
 * @param steady Replaces what differs from run to run by the page's own words.
 */
export function expectOutput(printed: string, { output }: MarkedBlock, steady: (text: string) => string): void {
  const pattern = lines(output, steady).map((line) => (line.trim() === '...' ? '[^]*' : escaped(line)));
  const expected = new RegExp(`^${pattern.join('\n').replaceAll('\n[^]*', '[^]*')}$`);
  expect(lines(printed, steady).join('\n')).toMatch(expected);
}

/** A title for the test of a block: its last line. */
export function titleOf({ code }: MarkedBlock): string {
  return code.trimEnd().split('\n').at(-1)?.slice(0, 60) ?? '';
}

function lines(text: string, steady: (text: string) => string): readonly string[] {
  // The width of a column follows its longest cell.
  return steady(text.trimEnd())
    .split('\n')
    .map((line) => line.trimEnd().replace(/\s+/g, ' '));
}

function escaped(line: string): string {
  return line.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*');
}
