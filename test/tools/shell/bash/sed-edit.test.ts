/** What a question shows of `sed -i` is what sed would have made, byte for byte. */
import { ShellLine } from '../../../../src/shell/shell-line.ts';
import { isUtf8 } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, readFileSync, realpathSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellToolsIn } from '../../../helpers/shell-tools.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { shownSedEdit } from '../../../../tools/shell/bash/sed-edit.ts';

/** What children of the process host have. */
const LOCALE = { PATH: process.env['PATH'], LANG: process.env['LANG'] };

const root = realpathSync(temporaryFolder());
const shell = shellToolsIn(root);

/** A preview as the gate asks for it. */
async function preview(command: string, more: object = {}) {
  const context = shell.context();
  const { paths } = new ShellLine(command).verdict;
  const located = await Promise.all(paths.map((use) => shell.locate(use, context)));
  return shell.bash.preview({ command, ...more }, { ...context, located });
}

function file(name: string, text: string | Buffer): string {
  writeFileSync(join(root, name), text);
  return join(root, name);
}

describe('a preview of sed -i', () => {
  const text = fc.array(fc.constantFrom('ab', 'b', 'aab', '', 'c.d', 'é', '  x', 'A/b'), { maxLength: 6 });
  const regex = fc.constantFrom(
    'a',
    'a*',
    '^',
    '$',
    '.',
    '[ab]\\{2\\}',
    '\\(a\\)\\(b\\)',
    'x\\|b',
    '\\bb',
    '[^a]*$',
    'é',
  );
  const replacement = fc.constantFrom('', 'Z', '&&', '\\1', '[&]', 'p\\nq', '\\U&', 'é', '\\\\');
  const flags = fc.constantFrom('', 'g', '2', 'I', '2g', 'gI', 'p');
  const address = fc.constantFrom('', '1', '$', '2,3', '/b/', '1~2', '0,/a/', '/a/,/c/', '2!');
  const edit = fc.oneof(
    fc.tuple(address, regex, replacement, flags).map(([at, from, to, how]) => `${at}s#${from}#${to}#${how}`),
    fc
      .tuple(address, fc.constantFrom('d', 'p', 'y/ab/ba/', 'G', 'N', 'a\\\nnew', 'c\\\nnew'))
      .map((parts) => parts.join('')),
  );
  const script = fc.array(edit, { minLength: 1, maxLength: 3 }).map((edits) => edits.join('\n'));

  it('is what the real sed writes', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), script, async (lines, isEnded, commands) => {
        const path = file('subject', lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : ''));
        const shown = shownSedEdit((await preview(`sed -i '${commands}' subject`))?.fields ?? {});
        try {
          execFileSync('sed', ['-i', commands, path], { stdio: 'ignore', env: LOCALE });
        } catch {
          // A script that sed refuses is not previewed either.
          expect(shown).toBeUndefined();
          return;
        }
        const written = readFileSync(path);
        // Where the locale is no UTF-8, sed may cut a letter in two.
        if (isUtf8(written)) expect(String(shown?.after)).toBe(String(written));
        else expect(shown).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  it('is drawn as a diff, with the command', async () => {
    file('drawn', 'one\ntwo\n');
    expect((await preview("sed -i 's/two/2/' drawn"))?.display).toMatchObject({
      title: 'Edit drawn with sed',
      subtitle: '+1 -1',
      blocks: [
        { kind: 'code', text: "sed -i 's/two/2/' drawn" },
        { kind: 'diff', path: 'drawn', hunks: [{ lines: [' one', '-two', '+2'] }] },
      ],
    });
    expect((await preview("sed -i 's/three/3/' drawn"))?.display.subtitle).toBe('Changes nothing');
  });

  it('is not made where it is not certain, hidden, or more than anybody would read', async () => {
    file('plain', 'a\n');
    symlinkSync('plain', join(root, 'link'));
    linkSync(file('first', 'a\n'), join(root, 'second'));
    file('binary', Buffer.from([97, 0, 97]));
    file('latin', Buffer.from([97, 0xe9, 10]));
    file('long', 'a\n'.repeat(600));
    chmodSync(file('setuid', 'a\n'), 0o4755);
    for (const name of ['link', 'second', 'binary', 'latin', 'long', 'setuid', 'missing', '../outside', '.bashrc'])
      expect(await preview(`sed -i s/a/b/ ${name}`).catch(() => undefined), name).toBeUndefined();
    for (const more of [{ run_in_background: true }, { dangerouslyDisableSandbox: true }])
      expect(await preview('sed -i s/a/b/ plain', more)).toBeUndefined();
    expect(await preview('sed -i s/a/b/ plain')).toBeDefined();
  });
});

describe('a call with what was shown', () => {
  it('writes it, and only to the file that was shown', async () => {
    const path = file('written', 'a\n');
    chmodSync(path, 0o640);
    const shown = await preview('sed -i s/a/b/ written');
    const { text } = await shell.run({ command: 'sed -i s/a/b/ written' }, {}, shown?.fields);
    expect([text, readFileSync(path, 'utf8')]).toEqual(['(no output)', 'b\n']);
    utimesSync(path, 1, 1);
    await expect(shell.run({ command: 'sed -i s/a/b/ written' }, {}, shown?.fields)).rejects.toThrow('it changed');
    expect(readFileSync(path, 'utf8')).toBe('b\n');
  });
});
