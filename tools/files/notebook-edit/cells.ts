/**
 * Changes one cell in the text of a notebook. All other bytes stay as they are: numbers, key order and blanks of the
 * other cells are their author's.
 */
import { randomBytes } from 'node:crypto';
import { getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';
import * as z from 'zod';

/** Edit of one cell. */
export interface CellEdit {
  readonly mode: 'replace' | 'insert' | 'delete';
  /** Its id, or `cell-N` with its place from 0. Of an insertion the cell before; absent: it comes first. */
  readonly cellId?: string | undefined;
  readonly cellType?: 'code' | 'markdown' | undefined;
  readonly source: string;
}

/** Text after an edit, or the reason for a failure, which follows `Cannot edit "…": `. */
export type EditedCells =
  | {
      readonly kind: 'edited';
      readonly text: string;
      readonly cellId: string;
      readonly cellType: string;
      /** Source before and after. */
      readonly before: string;
      readonly after: string;
    }
  | { readonly kind: 'problem'; readonly message: string };

const Cell = z.looseObject({
  id: z.string().optional(),
  cell_type: z.string(),
  source: z.union([z.string(), z.array(z.string())]),
});

/** A cell and its position in the text. */
interface PlacedCell {
  readonly cell: z.output<typeof Cell>;
  readonly start: number;
  readonly end: number;
}

interface Notebook {
  readonly text: string;
  readonly cells: readonly PlacedCell[];
  /** Offsets of the array's brackets: of the first, and behind the last. */
  readonly start: number;
  readonly end: number;
  /** From nbformat 4.5 on each cell has an id. */
  readonly hasIds: boolean;
}

/** Change a cell. */
export function editCells(text: string, edit: CellEdit): EditedCells {
  const notebook = readNotebook(text);
  if (typeof notebook === 'string') return problem(notebook);
  const place = edit.cellId === undefined ? undefined : placeOf(notebook, edit.cellId);
  if (edit.cellId !== undefined && place === undefined) return problem(noSuchCell(notebook, edit.cellId));
  if (edit.mode === 'insert') return inserted(notebook, edit, place === undefined ? 0 : place + 1);
  if (place === undefined) return problem(`"cell_id" is missing: name the cell to ${edit.mode}`);
  return edit.mode === 'delete' ? deleted(notebook, place) : replaced(notebook, edit, place);
}

/** @returns What is wrong with it, where it cannot be edited. */
function readNotebook(text: string): Notebook | string {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  if (!root || errors.length > 0 || root.type !== 'object') return 'it is not JSON, as a notebook must be';
  const format = member(root, 'nbformat')?.value as unknown;
  if (format !== 4) return `it is not a notebook of nbformat 4 (it says ${JSON.stringify(format) ?? 'nothing'})`;
  const array = member(root, 'cells');
  if (array?.type !== 'array') return 'it has no list of cells, or two of them';
  const cells: PlacedCell[] = [];
  for (const node of array.children ?? []) {
    const parsed = Cell.safeParse(getNodeValue(node));
    if (!parsed.success) return `its cell ${cells.length} has no "cell_type" or no "source"`;
    cells.push({ cell: parsed.data, start: node.offset, end: node.offset + node.length });
  }
  const minor: unknown = member(root, 'nbformat_minor')?.value;
  const hasIds = typeof minor === 'number' && minor >= 5;
  return { text, cells, start: array.offset, end: array.offset + array.length, hasIds };
}

/** The value of a key that stands once. */
function member(object: Node, key: string): Node | undefined {
  const found = (object.children ?? []).filter(({ children }) => children?.[0]?.value === key);
  return found.length === 1 ? found[0]?.children?.[1] : undefined;
}

function placeOf({ cells }: Notebook, cellId: string): number | undefined {
  const place = cells.findIndex(({ cell }) => cell.id === cellId);
  if (place >= 0) return place;
  const index = /^cell-(\d{1,6})$/.exec(cellId)?.[1];
  return index !== undefined && Number(index) < cells.length ? Number(index) : undefined;
}

function noSuchCell(notebook: Notebook, cellId: string): string {
  const { cells } = notebook;
  if (cells.length === 0) return `there is no cell "${cellId}", since it has no cells. Insert one without "cell_id"`;
  const known = cells.slice(0, 20).map((_cell, place) => idOf(notebook, place));
  const more = cells.length > known.length ? ` and ${cells.length - known.length} more` : '';
  return `there is no cell "${cellId}". It has ${known.join(', ')}${more}`;
}

/** As Read shows it. */
function idOf({ cells }: Notebook, place: number): string {
  return cells[place]?.cell.id ?? `cell-${place}`;
}

function replaced(notebook: Notebook, { cellType, source }: CellEdit, place: number): EditedCells {
  const placed = notebook.cells[place];
  if (!placed) return problem(`there is no cell at place ${place}`);
  const { cell, start, end } = placed;
  const before = textOf(cell.source);
  const type = cellType ?? cell.cell_type;
  if (before === source && type === cell.cell_type)
    return problem('the cell is like that already: nothing would change');
  const { outputs: _outputs, execution_count: _count, attachments, ...rest } = cell;
  const next = {
    ...rest,
    cell_type: type,
    ...(type === 'code' ? { execution_count: null, outputs: [] } : attachments === undefined ? {} : { attachments }),
    source: sourceLike(cell.source, source),
  };
  const text = splice(notebook.text, start, end, json(notebook, inOrder(next)));
  return { kind: 'edited', text, cellId: idOf(notebook, place), cellType: type, before, after: source };
}

function inserted(notebook: Notebook, { cellType, source }: CellEdit, place: number): EditedCells {
  if (cellType === undefined) return problem('"cell_type" is missing: say whether to insert "code" or "markdown"');
  const { cells, text, start, end } = notebook;
  const id = notebook.hasIds ? freeId(notebook) : undefined;
  const cell = {
    cell_type: cellType,
    ...(cellType === 'code' && { execution_count: null, outputs: [] }),
    ...(id !== undefined && { id }),
    metadata: {},
    source: sourceLike(cells[0]?.cell.source ?? [], source),
  };
  const written = json(notebook, inOrder(cell));
  const first = cells[0];
  const before = cells[place - 1];
  const made =
    first === undefined
      ? splice(text, start, end, emptyArrayWith(notebook, written))
      : before === undefined
        ? splice(text, first.start, first.start, `${written},${leadOf(notebook)}`)
        : splice(text, before.end, before.end, `,${leadOf(notebook)}${written}`);
  return { kind: 'edited', text: made, cellId: id ?? `cell-${place}`, cellType, before: '', after: source };
}

function deleted(notebook: Notebook, place: number): EditedCells {
  const { cells, text, start, end } = notebook;
  const [previous, placed, next] = [cells[place - 1], cells[place], cells[place + 1]];
  if (!placed) return problem(`there is no cell at place ${place}`);
  const made = previous
    ? splice(text, previous.end, placed.end, '')
    : next
      ? splice(text, placed.start, next.start, '')
      : splice(text, start, end, '[]');
  const { cell_type: cellType, source } = placed.cell;
  return { kind: 'edited', text: made, cellId: idOf(notebook, place), cellType, before: textOf(source), after: '' };
}

/** Blanks between the first bracket and the first cell: what stands before each cell. */
function leadOf({ text, start, cells }: Notebook): string {
  return text.slice(start + 1, cells[0]?.start ?? start + 1);
}

function emptyArrayWith(notebook: Notebook, written: string): string {
  const { newline, indent } = layoutOf(notebook.text);
  return indent === '' ? `[${written}]` : `[${newline}${indent}${indent}${written}${newline}${indent}]`;
}

/** A cell as JSON, laid out like the rest of the file. */
function json({ text }: Notebook, cell: object): string {
  const { newline, indent } = layoutOf(text);
  return JSON.stringify(cell, undefined, indent).replaceAll('\n', `${newline}${indent}${indent}`);
}

function layoutOf(text: string): { readonly newline: string; readonly indent: string } {
  const [, newline = '\n', indent = ''] = /(\r?\n)([ \t]+)"/.exec(text) ?? [];
  return { newline, indent };
}

/** Keys in alphabetical order, as Jupyter writes them. */
function inOrder(cell: object): object {
  return Object.fromEntries(Object.entries(cell).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Source in the form of another: one text, or lines that keep their ends. */
function sourceLike(other: string | readonly string[], source: string): string | readonly string[] {
  if (typeof other === 'string') return source;
  return source === '' ? [] : source.split(/(?<=\n)/);
}

function textOf(source: string | readonly string[]): string {
  return typeof source === 'string' ? source : source.join('');
}

function freeId({ cells }: Notebook): string {
  for (;;) {
    const id = randomBytes(4).toString('hex');
    if (cells.every(({ cell }) => cell.id !== id)) return id;
  }
}

function splice(text: string, start: number, end: number, inside: string): string {
  return text.slice(0, start) + inside + text.slice(end);
}

function problem(message: string): EditedCells {
  return { kind: 'problem', message };
}
