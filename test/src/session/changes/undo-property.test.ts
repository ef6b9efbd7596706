/** Whatever a session writes and edits, an undo to any frame gives back the tree of that moment, bit for bit. */
import fc from 'fast-check';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, changingSessions, tryCall } from '../../../helpers/changing-sessions.ts';

/** Names in folders that are made on the way, some of which cannot be: a file stands there. */
const NAMES = ['a', 'b', 'd/a', 'd/e/a', 'd/e/b', 'a/under'];

const step = fc.record({
  name: fc.constantFrom(...NAMES),
  isEdit: fc.boolean(),
  content: fc.constantFrom('', 'one\n', 'one\r\ntwo', 'täglich', '\u0000raw'),
});

/** Every file and folder below `root`: bytes and permissions. */
function treeOf(root: string): Readonly<Record<string, string>> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const content = entry.isFile() ? readFileSync(path).toString('hex') : 'folder';
    return [relative(root, path), `${(statSync(path).mode & 0o7777).toString(8)} ${content}`];
  });
  return Object.fromEntries(entries.sort()) as Record<string, string>;
}

describe('an undo to a frame', () => {
  const { begin, workspace } = changingSessions();
  let runs = 0;

  it('restores the tree of that moment', async () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 12 });
    const property = fc.asyncProperty(steps, fc.nat(), async (done, choice) => {
      const cwd = join(workspace, `run-${(runs += 1)}`);
      mkdirSync(cwd);
      writeFileSync(join(cwd, 'b'), 'there before', { mode: 0o640 });
      const session = await begin();
      await call(session, 'Read', { file_path: join(cwd, 'b') });
      const moments = [{ head: session.bounds().head, tree: treeOf(cwd) }];
      for (const { name, isEdit, content } of done) {
        const file_path = join(cwd, name);
        if (isEdit) await tryCall(session, 'Edit', { file_path, old_string: 'one', new_string: content });
        else await tryCall(session, 'Write', { file_path, content });
        moments.push({ head: session.bounds().head, tree: treeOf(cwd) });
      }
      const moment = moments[choice % moments.length] ?? { head: 0, tree: {} };
      await session.changes.undo({ toSeq: moment.head }, 'owner');
      expect(treeOf(cwd)).toEqual(moment.tree);
    });
    await fc.assert(property, { numRuns: 60 });
  });
});
