import { ShellLine } from '../../../src/shell/shell-line.ts';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { labelledCommands } from './labelled-commands.ts';

/** Pieces of shell that change the meaning of what stands around them, writes among them. */
const PIECES = [
  'touch m',
  '$(touch m)',
  '`touch m`',
  '> m',
  '>m',
  '>&m',
  ';',
  '&&',
  '|',
  '&',
  '"',
  "'",
  '\\',
  '\n',
  '\\\n',
  '#',
  '$',
  '${x',
  '${x:-',
  '}',
  '{',
  '(',
  ')',
  '((',
  '))',
  '[[',
  ']]',
  '<<E',
  '\nE\n',
  "<<'E'",
  '<<<',
  '<(',
  "$'",
  '{a,',
  '@(',
  'a[$(touch m)]',
  "'a[$(touch m)]'",
  '-v',
  '-eq',
  'x=',
  '$x',
  '-o m',
  'eval',
  'xargs',
  'case a in',
  'esac',
  ';;',
  '!',
  '~',
  '*',
];

test('no mutated command that passes as reading leaves a file behind', { timeout: 60_000 }, () => {
  const commands = [...labelledCommands('read-only').values()]
    .flat()
    .filter(
      (command) => command.length < 60 && !/sleep|tail -f|top|vmstat|yes|man |until|while|xargs|wait/.test(command),
    );
  const folder = temporaryFolder();
  let ran = 0;
  const mutated = fc.tuple(
    fc.constantFrom(...commands),
    fc.array(fc.tuple(fc.nat(60), fc.constantFrom(...PIECES)), { minLength: 1, maxLength: 3 }),
  );
  fc.assert(
    fc.property(mutated, ([command, insertions]) => {
      const text = insertions.reduce((whole, [at, piece]) => whole.slice(0, at) + piece + whole.slice(at), command);
      if (ran >= 150 || !/touch m|> ?m|>&m|-o m/.test(text) || !new ShellLine(text).verdict.isReadOnly) return;
      const cwd = join(folder, String(ran++));
      mkdirSync(cwd);
      writeFileSync(join(cwd, 'f'), 'x\n');
      spawnSync('bash', ['--noprofile', '--norc', '-c', text], {
        cwd,
        env: { PATH: '/usr/bin:/bin', HOME: cwd },
        stdio: 'ignore',
        timeout: 2_000,
      });
      expect(readdirSync(cwd), text).toEqual(['f']);
    }),
    { numRuns: 6_000 },
  );
  expect(ran).toBeGreaterThan(20);
});
