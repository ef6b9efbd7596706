/** NotebookEdit over the wire: its gate, and the way back. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block } from '../helpers/wire-client.ts';

const BOOK = `{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 1,
   "id": "one",
   "metadata": {},
   "outputs": [],
   "source": ["print(1.50)"]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
`;

it('a notebook is edited where edits are allowed, denied by rules of Edit, and put back by an undo', async () => {
  const { client, folder } = await sharedWorkspace('notebook');
  const notebook_path = join(folder, 'book.ipynb');
  writeFileSync(notebook_path, BOOK);
  const session = await client.session({ cwd: folder, mode: 'acceptEdits' });
  const edit = block('NotebookEdit', { notebook_path: 'book.ipynb', cell_id: 'one', new_source: 'print(2)' });
  const blind = await client.execute(session, [{ ...edit, id: 'blind' }]);
  expect(blind.results[0]?.content).toContain('was not read in this session. Read it first');
  const { results } = await client.execute(session, [block('Read', { file_path: notebook_path }), edit]);
  expect(results[1]?.content).toContain('Replaced code cell "one"');
  expect(readFileSync(notebook_path, 'utf8')).toContain('"print(2)"');

  const undone = await client.post(`/sessions/${session}/undo`, { tool_use_id: edit.id });
  expect(undone.body['files']).toMatchObject([{ path: notebook_path, kind: 'modified' }]);
  expect(readFileSync(notebook_path, 'utf8')).toBe(BOOK);

  const denied = await client.session({ cwd: folder, mode: 'acceptEdits', rules: { deny: ['Edit(*.ipynb)'] } });
  const refused = await client.execute(denied, [block('Read', { file_path: notebook_path }), { ...edit, id: 'no' }]);
  expect(refused.results[1]?.content).toContain('Denied by rule "Edit(*.ipynb)"');
});
