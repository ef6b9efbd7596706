/** Reads Jupyter notebooks: cells in order, each with its source and outputs. */
import * as z from 'zod';
import type { ResultContentBlock } from '../../../src/wire/blocks.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import type { RichOutput } from './output.ts';
import type { RichFile } from './rich-file.ts';
import { MAX_PAGE_BYTES } from './text.ts';

/** Text of one output of a cell. */
const MAX_OUTPUT_CHARS = 10_000;

const Multiline = z.union([z.string(), z.array(z.string()).transform((lines) => lines.join(''))]);

const CellOutput = z.looseObject({
  output_type: z.string(),
  text: Multiline.optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  ename: z.string().optional(),
  evalue: z.string().optional(),
  traceback: z.array(z.string()).optional(),
});

const Cell = z.looseObject({
  id: z.string().optional(),
  cell_type: z.string(),
  source: Multiline,
  execution_count: z.int().nullish(),
  outputs: z.array(CellOutput).optional(),
});

const Notebook = z.looseObject({ cells: z.array(Cell) });

type NotebookCell = z.output<typeof Cell>;
type NotebookCellOutput = z.output<typeof CellOutput>;

/**
 * Convert a notebook to blocks: a text per cell, and its images.
 *
 * @throws {GauntletError} `tool_failed` if it is invalid.
 */
export function readNotebook(rich: RichFile, bytes: Buffer): RichOutput {
  const { cells } = parseNotebook(rich.path, bytes);
  const first = Math.max(1, rich.input.offset ?? 1);
  const wanted = cells.slice(first - 1, rich.input.limit === undefined ? undefined : first - 1 + rich.input.limit);
  const content: ResultContentBlock[] = [];
  let usedBytes = 0;
  let shown = 0;
  for (const cell of wanted) {
    const blocks = cellBlocks(cell, first + shown);
    const bytesOfCell = blocks.reduce(
      (sum, block) => sum + (block.type === 'text' ? Buffer.byteLength(block.text) : 0),
      0,
    );
    if (shown > 0 && usedBytes + bytesOfCell > MAX_PAGE_BYTES) break;
    usedBytes += bytesOfCell;
    content.push(...blocks);
    shown++;
  }
  const last = first + shown - 1;
  if (shown < wanted.length) {
    content.push({
      type: 'text',
      text: `PARTIAL: cells ${first}-${last} of ${cells.length} are shown. Go on with offset ${last + 1}`,
    });
  }
  if (shown === 0)
    content.push({
      type: 'text',
      text: `The notebook has ${cells.length} cells; there is nothing from cell ${first} on`,
    });
  const summary = shown === cells.length ? `${shown} cells` : `cells ${first}-${last} of ${cells.length}`;
  return {
    type: 'notebook',
    path: rich.path,
    content,
    summary,
    sizeBytes: rich.file.stats.size,
    isPartial: shown < cells.length,
  };
}

function parseNotebook(path: string, bytes: Buffer): z.output<typeof Notebook> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new GauntletError(
      'tool_failed',
      `Cannot read "${path}": it is not JSON, as a notebook must be. Look at it with Bash`,
      { cause: error },
    );
  }
  const parsed = Notebook.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new GauntletError(
    'tool_failed',
    `Cannot read "${path}": it is not a notebook of nbformat 4. Look at it with Bash`,
    { cause: parsed.error },
  );
}

function cellBlocks(cell: NotebookCell, number: number): readonly ResultContentBlock[] {
  const id = cell.id ?? `cell-${number - 1}`;
  const count = cell.execution_count == null ? '' : ` execution_count="${cell.execution_count}"`;
  const texts = [`<cell id="${id}" type="${cell.cell_type}"${count}>\n${cell.source}\n</cell>`];
  const images: ResultContentBlock[] = [];
  for (const output of cell.outputs ?? []) {
    const image = imageOf(output);
    if (image) images.push(image);
    const text = textOf(output);
    if (text !== '') texts.push(`<output cell="${id}">\n${cut(text, MAX_OUTPUT_CHARS)}\n</output>`);
  }
  return [{ type: 'text', text: texts.join('\n') }, ...images];
}

function textOf(output: NotebookCellOutput): string {
  if (output.text !== undefined) return output.text;
  if (output.output_type === 'error')
    return [`${output.ename ?? 'Error'}: ${output.evalue ?? ''}`, ...(output.traceback ?? [])].join('\n');
  const plain = Multiline.safeParse(output.data?.['text/plain']);
  return plain.success ? plain.data : '';
}

function imageOf(output: NotebookCellOutput): ResultContentBlock | undefined {
  for (const media_type of ['image/png', 'image/jpeg']) {
    const data = Multiline.safeParse(output.data?.[media_type]);
    if (data.success)
      return { type: 'image', source: { type: 'base64', media_type, data: data.data.replace(/\s/g, '') } };
  }
  return undefined;
}

function cut(text: string, chars: number): string {
  return text.length <= chars
    ? text
    : `${text.slice(0, chars)}\n[cut: ${text.length - chars} more characters of this output]`;
}
