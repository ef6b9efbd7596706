/** NotebookEdit on real notebook files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { editCells } from '../../../tools/files/notebook-edit/cells.ts';
import { notebookEditTool } from '../../../tools/files/notebook-edit/index.ts';
import { readTool } from '../../../tools/files/read/index.ts';
import { fileServices } from '../../helpers/file-services.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { toolSession } from '../../helpers/tool-session.ts';

const services = fileServices();
const edit = notebookEditTool(services);
const read = readTool(services);

const CODE = {
  cell_type: 'code',
  execution_count: 3,
  id: 'aaa',
  metadata: { tags: ['x'] },
  outputs: [{ name: 'stdout', output_type: 'stream', text: ['1.0\n'] }],
  source: ['a = 1.0\n', 'print(a)'],
};
const WORDS = { cell_type: 'markdown', id: 'bbb', metadata: {}, source: ['# Title'] };
const BOOK = { cells: [CODE, WORDS], metadata: { scale: 1 }, nbformat: 4, nbformat_minor: 5 };
const OLD_BOOK = {
  ...BOOK,
  nbformat_minor: 2,
  cells: BOOK.cells.map(({ id: _id, ...cell }) => cell),
};

/** A session that has read a notebook of its own. */
async function opened(book: object | string = BOOK, indent: number | string = 1) {
  const root = temporaryFolder();
  const path = join(root, 'book.ipynb');
  writeFileSync(path, typeof book === 'string' ? book : `${JSON.stringify(book, undefined, indent)}\n`);
  const session = toolSession(root);
  await session.run(read, { file_path: path });
  return {
    ...{ path, session },
    run: (input: object) => session.run(edit, { notebook_path: path, ...input }),
    refusal: (input: object) => session.refusal(edit, { notebook_path: path, ...input }),
    text: () => readFileSync(path, 'utf8'),
    book: () => JSON.parse(readFileSync(path, 'utf8')) as { cells: Record<string, unknown>[] },
  };
}

describe('NotebookEdit', () => {
  it('replaces the source of a code cell, clears what it put out, and says what changed', async () => {
    const { run, book } = await opened();
    expect(await run({ cell_id: 'aaa', new_source: 'a = 2\nprint(a)' })).toMatch(
      /^Replaced code cell "aaa" of ".*book\.ipynb"\n[^]*-a = 1\.0\n\+a = 2/,
    );
    expect(book().cells).toEqual([
      { ...CODE, execution_count: null, outputs: [], source: ['a = 2\n', 'print(a)'] },
      WORDS,
    ]);
  });

  it('leaves every other byte of the file as it is', async () => {
    const odd = JSON.stringify(BOOK, undefined, 1)
      .replace('"scale": 1', '"scale":   1.50')
      .replace('"a = 1.0\\n"', '"a = \\u0031.0\\n"');
    const { run, text } = await opened(odd);
    await run({ cell_id: 'bbb', new_source: '# Other' });
    expect(text()).toBe(odd.replace('# Title', '# Other'));
  });

  it.each([
    ['one blank', 1],
    ['four blanks', 4],
    ['tabs', '\t'],
    ['nothing', 0],
  ])('keeps a layout by %s, through an insertion and a deletion', async (_name, indent) => {
    const { run, text } = await opened(BOOK, indent);
    const before = text();
    const answer = await run({ cell_id: 'aaa', cell_type: 'code', edit_mode: 'insert', new_source: 'b = 2' });
    const id = /code cell "([0-9a-f]{8})"/.exec(answer)?.[1];
    const cells = [CODE, { ...CODE, id, execution_count: null, metadata: {}, outputs: [], source: ['b = 2'] }, WORDS];
    expect(text()).toBe(`${JSON.stringify({ ...BOOK, cells }, undefined, indent)}\n`);
    await run({ cell_id: id, edit_mode: 'delete', new_source: '' });
    expect(text()).toBe(before);
  });

  it('inserts at the beginning, into an empty notebook too, and deletes the last cell', async () => {
    const { run, book, text } = await opened();
    await run({ edit_mode: 'insert', cell_type: 'markdown', new_source: 'First' });
    expect(book().cells.map(({ source }) => source)).toEqual([['First'], CODE.source, WORDS.source]);
    for (const { id } of book().cells) await run({ edit_mode: 'delete', cell_id: id, new_source: '' });
    expect(book().cells).toEqual([]);
    await run({ edit_mode: 'insert', cell_type: 'markdown', new_source: 'Again' });
    expect(text()).toContain('\n  {\n   "cell_type": "markdown",');
  });

  it('changes the kind of a cell', async () => {
    const { run, book } = await opened();
    await run({ cell_id: 'aaa', cell_type: 'markdown', new_source: 'words' });
    await run({ cell_id: 'bbb', cell_type: 'code', new_source: 'c = 3' });
    expect(book().cells).toEqual([
      { cell_type: 'markdown', id: 'aaa', metadata: CODE.metadata, source: ['words'] },
      { cell_type: 'code', execution_count: null, id: 'bbb', metadata: {}, outputs: [], source: ['c = 3'] },
    ]);
  });

  it('names cells by their place where a notebook has no ids, and gives it none', async () => {
    const { run, book } = await opened(OLD_BOOK);
    expect(await run({ cell_id: 'cell-1', new_source: 'Words' })).toContain('Replaced markdown cell "cell-1"');
    await run({ cell_id: 'cell-1', edit_mode: 'insert', cell_type: 'code', new_source: 'x' });
    expect(book().cells.map((cell) => [cell['source'], 'id' in cell])).toEqual([
      [CODE.source, false],
      [['Words'], false],
      [['x'], false],
    ]);
  });

  it('keeps a source that is one text one text, and Windows line ends of the file', async () => {
    const cells = BOOK.cells.map((cell) => ({ ...cell, source: cell.source.join('') }));
    const { run, book, text } = await opened(JSON.stringify({ ...BOOK, cells }, undefined, 1).replaceAll('\n', '\r\n'));
    await run({ cell_id: 'bbb', new_source: 'one\ntwo' });
    expect(book().cells[1]?.['source']).toBe('one\ntwo');
    expect(/[^\r]\n/.test(text())).toBe(false);
  });

  it.each([
    [{ cell_id: 'ccc', new_source: '' }, 'there is no cell "ccc". It has aaa, bbb'],
    [{ cell_id: 'cell-2', new_source: '' }, 'there is no cell "cell-2"'],
    [{ new_source: '' }, '"cell_id" is missing: name the cell to replace'],
    [{ new_source: '', edit_mode: 'delete' }, '"cell_id" is missing: name the cell to delete'],
    [{ new_source: '', edit_mode: 'insert' }, '"cell_type" is missing'],
    [{ cell_id: 'bbb', new_source: '# Title' }, 'nothing would change'],
  ])('refuses %j', async (input, words) => {
    const { refusal, text } = await opened();
    const before = text();
    expect(await refusal(input)).toContain(words);
    expect(text()).toBe(before);
  });

  it.each([
    ['{"nbformat": 3, "cells": []}', 'not a notebook of nbformat 4 (it says 3)'],
    ['{"nbformat": 4, "cells": [], "cells": []}', 'no list of cells, or two of them'],
    ['{"nbformat": 4, "cells": [{"source": 1}]}', 'its cell 0 has no "cell_type"'],
    ['{"nbformat": 4, // words\n"cells": []}', 'it is not JSON'],
  ])('refuses a file such as %s', (text, words) => {
    expect(editCells(text, { mode: 'replace', cellId: 'a', source: 'x' })).toMatchObject({
      kind: 'problem',
      message: expect.stringContaining(words),
    });
  });

  it('refuses a notebook that was not read, that changed since, or that is no .ipynb', async () => {
    const { path, session, refusal } = await opened();
    const other = join(path, '..', 'other.ipynb');
    writeFileSync(other, '{}');
    expect(await session.refusal(edit, { notebook_path: other, new_source: 'x' })).toContain('was not read');
    writeFileSync(path, JSON.stringify(OLD_BOOK));
    expect(await refusal({ cell_id: 'aaa', new_source: 'x' })).toContain('Read it again first');
    expect(await session.refusal(edit, { notebook_path: 'a.txt', new_source: 'x' })).toContain('must end in .ipynb');
  });

  it('draws an input that is still streaming in', () => {
    expect(edit.renderToolUseMessage({})).toMatchObject({ title: 'Replace a cell of …', blocks: [] });
    expect(edit.renderToolUseMessage({ edit_mode: 'ins', new_source: 3 } as never).blocks).toEqual([]);
  });
});
