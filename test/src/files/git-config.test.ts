/** git's configuration files, read as git reads them. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseGitConfig } from '../../../src/files/git-config.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const file = join(temporaryFolder(), 'config');

/** The same file as git lists it; undefined where git refuses it. */
function listedByGit(text: string): readonly string[] | undefined {
  writeFileSync(file, text);
  const { status, stdout } = spawnSync('git', ['config', '--file', file, '--no-includes', '--list', '-z'], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.split('\0').slice(0, -1) : undefined;
}

/** What the parser finds, as git lists it: a line end stands between name and value. */
function parsed(text: string): readonly string[] | undefined {
  return parseGitConfig(text)?.map(({ name, value }) => (value === undefined ? name : `${name}\n${value}`));
}

describe('a configuration file', () => {
  it.each([
    '',
    '[a]\nb = c\n',
    '[Filter "Evil"]\n\tClean = ./x %f\n',
    '[filter.Evil] clean = x',
    '[a "b"] c = d\n[a "b.c"] d = e',
    '[a "b\\"c\\\\d\\e"] f = g',
    '[a]\nb\nc = d',
    '[a]\nb',
    '[a]\r\nb = c\r\nd\r\n',
    '[a]\nb = c ; comment\nd = "e ; f" # comment\n; [x]\n# y = z',
    '[a]\nb = c\\\n  d\\\ne',
    '[a]\nb = "c\\\n d"',
    '[a]\nb = "  c  "  \n d =   e   f   ',
    '[a]\nb = c"d"e\\t\\n\\b\\\\\\"',
    '[a] b = c\n[d] e = f',
    '[a-b.c]\nd-e = f',
    '[a]\nb =',
    '[a]\nb = ""',
    '\uFEFF[a]\nb = c',
    '[a]\nb = \uFEFFc',
  ])('%j means to the parser what it means to git', (text) => {
    expect(parsed(text)).toEqual(listedByGit(text));
    expect(parsed(text)).toBeDefined();
  });

  it.each([
    'b = c',
    '[a\nb = c',
    '[a "b]\nc = d',
    '[a "b" ]\nc = d',
    '[a b]\nc = d',
    '[]\nb = c',
    '[a]\n1 = c',
    '[a]\nb ; c',
    '[a]\nb = "c',
    '[a]\nb = "c\nd"',
    '[a]\nb = \\x',
    '[a]\nb = c\\',
    '[a]\nb_c = d',
    '[a]\nb = c\0d',
    '[a]\nb = c\td',
  ])('%j is not understood', (text) => {
    expect(parseGitConfig(text)).toBeUndefined();
  });

  it('made of random pieces is never read otherwise than git reads it', () => {
    const pieces = [
      '[',
      ']',
      '"',
      '\\',
      '\n',
      '\r\n',
      ' ',
      '\t',
      '=',
      '#',
      ';',
      'a',
      'B',
      '.',
      '-',
      '[a]\n',
      '[a "b"]',
      'c = ',
      '\r',
      'é',
    ];
    let seed = 7;
    const random = (most: number) => (seed = (seed * 48_271) % 2_147_483_647) % most;
    let understood = 0;
    for (let round = 0; round < 400; round++) {
      const text = `[s]\nk = v\n${Array.from({ length: 1 + random(9) }, () => pieces[random(pieces.length)]).join('')}`;
      const found = parsed(text);
      if (!found) continue;
      understood += 1;
      expect({ text, found }).toEqual({ text, found: listedByGit(text) });
    }
    expect(understood).toBeGreaterThan(60);
  });
});
