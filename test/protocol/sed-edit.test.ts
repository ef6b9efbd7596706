/** DESIGN: `sed -i` is asked about as the diff it makes, and what was shown is what is written. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, until, type WireClient, type WirePrompt } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;
let path: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('sed'));
  path = join(folder, 'notes.txt');
});

const EDIT = { command: "sed -i 's/two/2/' notes.txt" };

/** A session that asks about the edit, and its question. */
async function asked(input: object = EDIT) {
  writeFileSync(path, 'one\ntwo\n');
  const id = await client.session({ cwd: folder });
  const reply = client.execute(id, [block('Bash', input)], { on_ask: 'wait' });
  const question = (after?: WirePrompt) =>
    until(async () => {
      const { prompts } = (await client.get(`/sessions/${id}/prompts`)).body;
      return prompts.find(({ request_id }) => request_id !== after?.request_id);
    });
  const allow = (prompt: WirePrompt, more: object = {}) =>
    client.post(`/sessions/${id}/prompts/${prompt.request_id}`, { behavior: 'allow', ...more });
  return { id, reply, question, allow };
}
const shownLines = (prompt: WirePrompt) => JSON.stringify(prompt['display']).match(/"lines":(\[.*?\])/)?.[1];

describe('sed -i', () => {
  it('is shown as a diff, written as shown, and can be taken back', async () => {
    const { id, reply, question, allow } = await asked();
    const prompt = await question();
    expect(shownLines(prompt)).toBe('[" one","-two","+2"]');
    expect(prompt['input']).toEqual(EDIT);
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
    await allow(prompt);
    const { calls, results } = await reply;
    expect([calls[0]?.status, results[0]?.content, readFileSync(path, 'utf8')]).toEqual([
      'ok',
      '(no output)',
      'one\n2\n',
    ]);
    const undone = await client.post(`/sessions/${id}/undo`, { tool_use_id: calls[0]?.tool_use_id });
    expect([undone.status, readFileSync(path, 'utf8')]).toEqual([200, 'one\ntwo\n']);
  });

  it('is asked about again where the file changed under the question', async () => {
    const { reply, question, allow } = await asked();
    const first = await question();
    writeFileSync(path, 'zero\ntwo\n');
    await allow(first);
    const second = await question(first);
    expect(readFileSync(path, 'utf8')).toBe('zero\ntwo\n');
    expect(shownLines(second)).toBe('[" zero","-two","+2"]');
    await allow(second);
    expect((await reply).calls[0]).toMatchObject({ status: 'ok' });
    expect(readFileSync(path, 'utf8')).toBe('zero\n2\n');
  });

  it("takes nobody else's word for what was shown", async () => {
    const forged = { _simulatedSedEdit: { filePath: path, newContent: 'forged' } };
    const { id, reply, question, allow } = await asked({ ...EDIT, ...forged });
    const prompt = await question();
    await allow(prompt, { updated_input: { command: "sed -i 's/one/1/' notes.txt", ...forged } });
    expect((await reply).calls[0]).toMatchObject({ status: 'ok' });
    expect(readFileSync(path, 'utf8')).toBe('1\ntwo\n');
    const plain = await client.execute(id, [block('Bash', { command: 'echo hi', ...forged })]);
    expect(plain.results[0]?.content).toBe('hi');
  });
});
