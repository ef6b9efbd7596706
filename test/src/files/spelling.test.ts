import { homedir } from 'node:os';
import { expect, it } from 'vitest';
import { shownAbsolute } from '../../../src/files/spelling.ts';
import { sessionContextIn } from '../../helpers/tool-use-context.ts';

const session = sessionContextIn('/project');

it.each([
  ['notes/a.txt', '/project/notes/a.txt'],
  ['../../etc/passwd', '/etc/passwd'],
  ['/project/./b/', '/project/b'],
  ['~/.ssh/config', `${homedir()}/.ssh/config`],
  // What no tool would open is shown as it came, so that whoever looks sees what is wrong with it.
  ['file:///etc/passwd', 'file:///etc/passwd'],
  ['', ''],
])('a path spelled %j is shown as %j', (spelled, shown) => {
  const clone = { file_path: spelled, limit: 3 };
  shownAbsolute('file_path')(clone, session);
  expect(clone).toEqual({ file_path: shown, limit: 3 });
});

it('an input without the path stays without one', () => {
  const clone = { pattern: '*.ts' };
  shownAbsolute('path')(clone, session);
  expect(clone).toEqual({ pattern: '*.ts' });
});
