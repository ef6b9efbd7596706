/** Which command lines are an edit in place that can be shown before it is made. */
import { ShellLine } from '../../../src/shell/shell-line.ts';
import { describe, expect, it } from 'vitest';
import { sedEdit } from '../../../src/shell/sed-edit.ts';

describe('an edit in place', () => {
  it.each([
    ["sed -i 's/a/b/' file", ['-e', 's/a/b/'], 'file'],
    ['sed -i s/a/b/g src/x.ts', ['-e', 's/a/b/g'], 'src/x.ts'],
    ["sed -Ei 's/(a)/\\1b/' file", ['-E', '-e', 's/(a)/\\1b/'], 'file'],
    ["sed -i -e '1d' -e 's#x#y#2' ./file", ['-e', '1d', '-e', 's#x#y#2'], './file'],
    ["sed --in-place --regexp-extended '/^$/d' file", ['--regexp-extended', '-e', '/^$/d'], 'file'],
    ["sed -n -i '2,$p' -- file", ['-n', '-e', '2,$p'], 'file'],
    ["sed -i '3i\\\n  text' file", ['-e', '3i\\\n  text'], 'file'],
  ])('%j', (command, filter, file) => {
    expect(sedEdit(new ShellLine(command))).toEqual({ filter: ['--sandbox', ...filter], file });
  });
});

describe('anything else is no such edit:', () => {
  it.each([
    "sed 's/a/b/' file",
    "sed -i.bak 's/a/b/' file",
    "sed --in-place=.bak 's/a/b/' file",
    "sed -i 's/a/b/' one two",
    "sed -i 's/a/b/'",
    "sed -i 's/a/b/w other' file",
    "sed -i 's/a/date/e' file",
    "sed -i 'r other' file",
    "sed -i '1e id' file",
    'sed -i 2q file',
    'sed -i F file',
    'sed -i -f script file',
    "sed -i --follow-symlinks 's/a/b/' file",
    'sed -i "s/a/$x/" file',
    "sed -i 's/a/b/' $file",
    "sed -i 's/a/b/' *.txt",
    "sed -i 's/a/b/' file > out",
    "sed -i 's/a/b/' file < in",
    "LC_ALL=C sed -i 's/a/b/' file",
    "sed -i 's/a/b/' file && id",
    "sed -i 's/a/b/' file &",
    "! sed -i 's/a/b/' file",
    "time sed -i 's/a/b/' file",
    "cd sub; sed -i 's/a/b/' file",
    "for x in 1 2; do sed -i 's/a/b/' file; done",
    "(sed -i 's/a/b/' file)",
    "sudo sed -i 's/a/b/' file",
    './sed -i s/a/b/ file',
    "sed -i 's/a/b/' file # with \u200b in it",
  ])('%s', (command) => {
    expect(sedEdit(new ShellLine(command))).toBeUndefined();
  });
});
