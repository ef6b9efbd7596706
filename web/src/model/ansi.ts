/**
 * Text of a terminal as lines of coloured spans. Only colours and weights are obeyed; whatever else a program sends,
 * such as titles, links and cursor moves, is left out.
 */

/** A piece of text in one style. */
export interface AnsiSpan {
  readonly text: string;
  /** Class names: `fg-0` to `fg-15`, `bg-0` to `bg-15`, `bold`, `dim`, `italic`, `underline`, `strike`. */
  readonly style: string;
}

interface Style {
  fg?: number;
  bg?: number;
  readonly on: Set<string>;
}

/** Spans that one text gives at most; the rest has no colours. */
const MAX_SPANS = 5_000;

const ESCAPE =
  /\u001b(?:\[([0-?]*)[ -/]*([@-~])|\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|[PX^_][^\u001b]{0,4096}\u001b\\|[ -/]?[0-~])|\u009b([0-?]*)[ -/]*([@-~])/g;

/** The sixteen colours of terminals, to find the nearest one of others. */
const PALETTE: readonly (readonly [number, number, number])[] = [
  [0, 0, 0],
  [205, 49, 49],
  [13, 160, 90],
  [200, 170, 20],
  [36, 114, 200],
  [188, 63, 188],
  [17, 168, 205],
  [200, 200, 200],
  [110, 110, 110],
  [241, 76, 76],
  [35, 209, 139],
  [245, 245, 67],
  [59, 142, 234],
  [214, 112, 214],
  [41, 184, 219],
  [255, 255, 255],
];

const WEIGHTS: Readonly<Record<number, string>> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'strike',
};
const ENDS: Readonly<Record<number, readonly string[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
};

/** True where text has something that `parseAnsi` would take out. */
export function hasAnsi(text: string): boolean {
  return /[\u001b\u009b\r\b]/.test(text);
}

/** Split text into spans. Colours beyond the sixteen become the nearest of them, which the page can keep legible. */
export function parseAnsi(given: string): AnsiSpan[] {
  const text = overwritten(given);
  const spans: AnsiSpan[] = [];
  const style: Style = { on: new Set() };
  let at = 0;
  const push = (piece: string) => {
    if (piece !== '') spans.push({ text: piece, style: classNames(style) });
  };
  for (const match of text.matchAll(ESCAPE)) {
    if (spans.length >= MAX_SPANS) break;
    push(text.slice(at, match.index));
    at = match.index + match[0].length;
    if ((match[2] ?? match[4]) === 'm') applyStyle(style, match[1] ?? match[3] ?? '');
  }
  push(spans.length >= MAX_SPANS ? text.slice(at).replace(ESCAPE, '') : text.slice(at));
  return spans;
}

/** Return the text that carriage returns and backspaces leave: a progress bar is its last state. */
function overwritten(text: string): string {
  const lines = text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text;
  const last = lines.includes('\r') ? lines.replace(/[^\n]*\r(?=[^\n])/g, '').replaceAll('\r', '') : lines;
  return last.includes('\b') ? last.replace(/[^\n\u0008]\u0008/g, '').replaceAll('\b', '') : last;
}

function applyStyle(style: Style, parameters: string): void {
  const codes = parameters.replaceAll(':', ';').split(';').slice(0, 32).map(Number);
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = longColour(codes.slice(index + 1));
      if (code === 38) style.fg = colour;
      else style.bg = colour;
      index += used;
    } else applyCode(style, code);
  }
}

function applyCode(style: Style, code: number): void {
  const weight = WEIGHTS[code];
  if (weight !== undefined) style.on.add(weight);
  else if (ENDS[code]) for (const each of ENDS[code]) style.on.delete(each);
  else if (code >= 30 && code <= 37) style.fg = code - 30;
  else if (code >= 90 && code <= 97) style.fg = code - 82;
  else if (code >= 40 && code <= 47) style.bg = code - 40;
  else if (code >= 100 && code <= 107) style.bg = code - 92;
  else if (code === 39) style.fg = undefined;
  else if (code === 49) style.bg = undefined;
  else if (code === 0) {
    style.fg = style.bg = undefined;
    style.on.clear();
  }
}

/** Read `5;n` or `2;r;g;b`. @returns The nearest of the sixteen colours, and how many numbers were read. */
function longColour([kind, ...values]: readonly number[]): [number | undefined, number] {
  if (kind === 5) return [indexed(values[0] ?? 0), 2];
  if (kind === 2) return [nearest(values[0] ?? 0, values[1] ?? 0, values[2] ?? 0), 4];
  return [undefined, 1];
}

function indexed(index: number): number {
  if (index < 16) return index;
  if (index >= 232) return nearest(...grey(8 + (index - 232) * 10));
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const cube = index - 16;
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function grey(level: number): [number, number, number] {
  return [level, level, level];
}

function nearest(red: number, green: number, blue: number): number {
  const distances = PALETTE.map(([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2);
  return distances.indexOf(Math.min(...distances));
}

function classNames({ fg, bg, on }: Style): string {
  const isInverse = on.has('inverse');
  const [front, back] = isInverse ? [bg, fg ?? 7] : [fg, bg];
  return [
    ...(front === undefined ? [] : [`fg-${front}`]),
    ...(back === undefined ? [] : [`bg-${back}`]),
    ...[...on].filter((name) => name !== 'inverse'),
  ].join(' ');
}
