/** Lists say of every tool in which state it is, and README shows the tools there are. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PLAIN_ENVIRONMENT, withToolTable } from '../../bin/tool-table.mjs';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { wireClient } from '../helpers/wire-client.ts';

interface FullEntry {
  readonly name: string;
  readonly description: string;
  readonly aliases: readonly string[];
  readonly state: string;
}

async function listed(server: BuiltServer, query = ''): Promise<readonly FullEntry[]> {
  const { body } = await wireClient(server).get(`/tools?format=full${query}`);
  return body.tools as unknown as readonly FullEntry[];
}

const byName = (tools: readonly FullEntry[]) => tools.map(({ name }) => name).sort();

it("README's table of tools is what a server without settings lists; npm run docs writes it", async () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const server = await startServer({ environment: PLAIN_ENVIRONMENT });
  expect(withToolTable(readme, await listed(server))).toBe(readme);
});

it('every tool is in the full list on every server, with its state and what to set', async () => {
  const plain = await listed(await startServer({ environment: PLAIN_ENVIRONMENT }));
  const strict = await startServer({ settings: { features: { Sleep: false }, permissions: { deny: ['Bash'] } } });
  const tools = await listed(strict);
  expect(byName(tools)).toEqual(byName(plain));
  expect(byName(await listed(strict, '&mode=simple'))).toEqual(byName(plain));

  const stateOf = (name: string) => tools.find((tool) => tool.name === name)?.state;
  expect(stateOf('Read')).toBe('enabled');
  expect(stateOf('Bash')).toBe('deny rule: "Bash"');
  expect(stateOf('Sleep')).toBe('not enabled: the setting "features" switches it off: set "Sleep" to true there');
  expect(stateOf('StructuredOutput')).toContain('begin it with "output_schema"');
  // A reason is followed by what to do about it.
  const reasons = [...tools, ...plain].map(({ state }) => state).filter((state) => state.startsWith('not enabled'));
  for (const reason of reasons) expect(reason).toMatch(/^not enabled: .+: .+/);
  // Some providers cut longer ones.
  expect(plain.filter(({ description }) => description.length > 1_024).map(({ name }) => name)).toEqual([]);
});
