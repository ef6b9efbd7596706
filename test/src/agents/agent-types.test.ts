/** Types of agents, read from files. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadAgentTypes } from '../../../src/agents/agent-types.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

let folders = 0;

/** Load the types of a folder with these files. */
function load(files: Readonly<Record<string, string>>) {
  const folder = join(temporaryFolder(), `types-${(folders += 1)}`);
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return loadAgentTypes([folder]);
}

const file = (head: string, body = 'Review it.') => `---\n${head}\n---\n${body}\n`;
const HEAD = 'name: reviewer\ndescription: Reviews';

it('has the words of its file, and what its front matter says', async () => {
  const head = `${HEAD}\ntools: Read, Grep\ndisallowedTools: [Bash]\nmodel: fast\npermissionMode: plan\nmaxTurns: 7\ncolor: blue`;
  const schema = 'outputSchema:\n  type: object\n  properties:\n    ok: { type: boolean }';
  const { types, problems } = await load({ 'r.md': file(`${head}\n${schema}`), 'notes.txt': 'no type' });
  expect(problems).toEqual([]);
  expect(types).toEqual([
    {
      ...{ name: 'reviewer', description: 'Reviews', prompt: 'Review it.', tools: ['Read', 'Grep'] },
      ...{ disallowedTools: ['Bash'], model: 'fast', permissionMode: 'plan', maxTurns: 7 },
      outputSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
    },
  ]);
});

it.each([
  ['misspells a key, which would give it every tool', file(`${HEAD}\ntool: Read`), /"tool" .*tools/],
  ['names a rule for a tool', file(`${HEAD}\ntools: Bash(git log:*)`), /"tools\[0\]" .*name of a tool/],
  ['has a mode that is none', file(`${HEAD}\npermissionMode: all`), /permissionMode/],
  ['has no front matter', 'Review it.', /front matter/],
  ['has no prompt', file(HEAD, ''), /no prompt/],
  ['has no YAML', file('name: [x'), /./],
  ['grows by aliases', file('name: &a [x, x]\ndescription: [*a, *a]'), /./],
  ['is too long', file(HEAD, 'x'.repeat(65_536)), /more than 65536 bytes/],
])('is not used where its file %s, and the reason is told', async (_, text, why) => {
  const { types, problems } = await load({ 'r.md': text, 'good.md': file('name: good\ndescription: Good') });
  expect(types.map(({ name }) => name)).toEqual(['good']);
  expect(problems).toEqual([expect.stringMatching(/Cannot use agent type ".*r\.md": /)]);
  expect(problems[0]).toMatch(why);
});

it('is the first of its name, one of a bounded number, and never read from a device', async () => {
  const folder = temporaryFolder();
  symlinkSync('/dev/zero', join(folder, 'zero.md'));
  const found = await loadAgentTypes([folder, join(folder, 'missing')]);
  expect(found.types).toEqual([]);
  expect(found.problems).toEqual([expect.stringContaining('it is no file'), expect.stringContaining('missing')]);
  const many = Array.from({ length: 100 }, (_, n) => [`z${n}.md`, file(`name: z${n}\ndescription: Z`)]);
  const { types, problems } = await load({ 'a.md': file(HEAD), 'b.md': file(HEAD), ...Object.fromEntries(many) });
  expect(types).toHaveLength(100);
  expect(problems).toEqual([expect.stringContaining('another one called'), expect.stringContaining('100 already')]);
});
