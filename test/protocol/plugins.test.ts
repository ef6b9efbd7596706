/** Tools that somebody else wrote, as modules named in the settings. */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runServer, serverHome, startServer } from '../helpers/built-server.ts';
import { block, until, wireClient, type WireBody, type WireClient } from '../helpers/wire-client.ts';

const require = createRequire(import.meta.url);

const MODERN = `
import { z } from '${require.resolve('zod')}';
const base = { prompt: 'A tool of a plugin', inputSchema: z.strictObject({ name: z.string().describe('Who') }) };
export default [
  {
    ...base,
    name: 'Greet',
    aliases: ['Hello'],
    isReadOnly: () => true,
    async call({ name }, context, canUseTool, parent, onProgress) {
      onProgress?.({ toolUseID: 'x', data: { type: 'greeting', text: 'about to greet' } });
      return { data: 'hello ' + name };
    },
  },
  {
    ...base,
    name: 'Briefing',
    inputSchema: z.strictObject({ allow: z.array(z.string()) }),
    call: async ({ allow }) => ({
      data: 'done',
      contextModifier: (session) => {
        const rules = { ...session.permissions.rules, command: { allow, ask: [], deny: [] } };
        return { ...session, permissions: { ...session.permissions, rules } };
      },
    }),
  },
  {
    ...base,
    name: 'Survey',
    inputSchema: z.strictObject({ topic: z.string(), answers: z.record(z.string(), z.unknown()).optional() }),
    description: ({ topic }) => 'Ask the person\\n about ' + topic,
    checkPermissions: () => ({ behavior: 'ask', message: 'A person has to answer' }),
    renderToolUseMessage: ({ topic }) => ({
      title: 'Survey about ' + topic,
      blocks: [
        { kind: 'table', columns: ['when', 'who'], rows: [['today', 'you']] },
        {
          kind: 'form',
          key: 'answers',
          fields: [
            { name: 'mood', label: 'Mood', type: 'choice', choices: [{ value: 'good', label: 'Good' }], required: true },
            { name: 'words', label: 'More', type: 'text' },
          ],
        },
      ],
    }),
    call: async ({ answers }) => ({ data: JSON.stringify(answers ?? 'no answers') }),
  },
  { ...base, name: 'Thrower', call() { throw new Error('thrown at once'); } },
  { ...base, name: 'Rejecter', call: async () => { await null; throw new Error('rejected later'); } },
  { ...base, name: 'BadDrawer', renderToolResultMessage() { throw new Error('cannot draw'); }, call: async () => ({ data: 'drawn' }) },
  { ...base, name: 'Circular', call: async () => { const data = {}; data.data = data; return { data }; } },
  { ...base, name: 'Stray', call: async () => { Promise.reject(new Error('stray')); return { data: 'fine' }; } },
];
`;

const OLD = `
import { z } from '${require.resolve('zod/v3')}';
export default {
  name: 'Count',
  prompt: 'Counts words',
  inputSchema: z.object({ words: z.array(z.string()).describe('Words') }).strict(),
  call: async ({ words }) => ({ data: String(words.length) }),
};
`;

let client: WireClient;

beforeAll(async () => {
  client = wireClient(await startServer(pluginHome()));
});

function pluginHome() {
  const home = serverHome();
  writeFileSync(join(home, 'data', 'modern.mjs'), MODERN);
  writeFileSync(join(home, 'data', 'old.mjs'), OLD);
  return { home, settings: { plugins: ['./modern.mjs', './old.mjs'] } };
}

/** What is decided about a command, and the source of the rule that decides. */
async function judgedBy({ post }: WireClient, sessionId: string, command: string) {
  const { body } = await post(`/sessions/${sessionId}/permissions/explain`, { name: 'Bash', input: { command } });
  return [body['behavior'], (body['reason'] as { readonly source?: string }).source];
}

async function run(name: string, input: object = { name: 'Ada' }): Promise<WireBody> {
  return client.execute(await client.session({ mode: 'bypassPermissions' }), [block(name, input)]);
}

describe('a plugin', () => {
  it('asks a person with a form, and gets what was filled in as its input', async () => {
    const id = await client.session();
    const waiting = client.execute(id, [block('Survey', { topic: 'tea' })], { on_ask: 'wait' });
    const prompt = await until(async () => {
      const { body } = await client.get(`/sessions/${id}/prompts`);
      return body.prompts[0];
    });
    expect(prompt).toMatchObject({
      title: 'A person has to answer',
      description: 'Ask the person about tea',
      display: { blocks: [{ kind: 'table' }, { kind: 'form', key: 'answers', fields: [{ name: 'mood' }, {}] }] },
    });
    const updated_input = { topic: 'tea', answers: { mood: 'good' } };
    const answer = { behavior: 'allow', updated_input };
    expect((await client.post(`/sessions/${id}/prompts/${prompt.request_id}`, answer)).status).toBe(200);
    expect((await waiting).results[0]?.content).toBe('{"mood":"good"}');
  });

  it('is listed behind the built-ins, whose prefix it leaves alone', async () => {
    const { body } = await client.get('/tools?schemas=full');
    const names = body.tools.map(({ name }) => name);
    expect(names.slice(body.built_in_count)).toEqual([
      'BadDrawer',
      'Briefing',
      'Circular',
      'Count',
      'Greet',
      'Rejecter',
      'Stray',
      'Survey',
      'Thrower',
    ]);
    const plain = (await wireClient(await startServer()).get('/tools')).body;
    expect(body['prefix_sha256']).toBe(plain['prefix_sha256']);
  });

  it.each([
    ['Zod 4', 'Greet', { name: { type: 'string', description: 'Who' } }],
    ['Zod 3', 'Count', { words: { type: 'array', items: { type: 'string' }, description: 'Words' } }],
  ])('written with %s has its schema in the list', async (_what, name, properties) => {
    const { body } = await client.get(`/tools/${name}`);
    expect(body).toMatchObject({ name, input_schema: { type: 'object', properties, additionalProperties: false } });
  });

  it('runs, under its alias too, with progress of its own type', async () => {
    expect((await run('Greet')).results[0]).toMatchObject({ content: 'hello Ada' });
    expect((await run('Hello')).results[0]).toMatchObject({ content: 'hello Ada' });
    expect((await run('Count', { words: ['a', 'b'] })).results[0]).toMatchObject({ content: '2' });
    const { session_id } = await run('Greet');
    expect((await client.frames(session_id)).find(({ type }) => type === 'progress')).toMatchObject({
      data: { type: 'greeting', text: 'about to greet' },
    });
  });

  it.each([
    ['Greet', { name: 7 }, 'name'],
    ['Greet', { name: 'a', extra: 1 }, 'extra'],
    ['Count', { words: ['a', 7] }, 'words[1]'],
    ['Count', { words: 'a' }, 'words'],
  ])('%s refuses %j by path', async (name, input, path) => {
    const { results, calls } = await run(name, input);
    expect(calls[0]).toMatchObject({ error_code: 'invalid_input' });
    expect(results[0]?.content).toMatch(/^InputValidationError:/);
    expect(results[0]?.content.replaceAll('.1', '[1]')).toContain(path);
  });

  it('brings rules for its run, until its next run or a person takes them back', async () => {
    const rules = { allow: ['Briefing'], deny: ['Bash(touch secret)'] };
    const sessionId = await client.session({ on_ask: 'deny', rules });
    const brief = (...allow: string[]) => client.execute(sessionId, [block('Briefing', { allow })]);
    const judged = (command: string) => judgedBy(client, sessionId, command);
    await brief('Bash(touch:*)');
    expect(await judged('touch a')).toEqual(['allow', 'command']);
    expect(await judged('touch secret')).toEqual(['deny', 'session']);
    await brief('Bash(touch:*)', 'Bash(');
    expect(await judged('touch a')).toEqual(['allow', 'command']);
    await brief('Bash(mkdir:*)');
    expect(await judged('touch a')).toEqual(['ask', undefined]);
    const updates = [{ type: 'removeRules', behavior: 'allow', rules: ['Bash(mkdir:*)'] }];
    expect((await client.post(`/sessions/${sessionId}/permissions`, { updates })).status).toBe(200);
    expect(await judged('mkdir a')).toEqual(['ask', undefined]);
  });

  it('has brought its rules after a restart, too', async () => {
    const { home, settings } = pluginHome();
    const first = await startServer({ home, settings });
    const sessionId = await wireClient(first).session({ rules: { allow: ['Briefing'] } });
    await wireClient(first).execute(sessionId, [block('Briefing', { allow: ['Bash(touch:*)'] })]);
    await first.end('SIGKILL');
    const second = wireClient(await startServer({ home, settings }));
    expect(await judgedBy(second, sessionId, 'touch a')).toEqual(['allow', 'command']);
  });

  it('is asked about although it says that it only reads', async () => {
    const { calls } = await client.execute(await client.session({ on_ask: 'deny' }), [block('Greet', { name: 'Ada' })]);
    expect(calls[0]).toMatchObject({ status: 'denied' });
  });

  it.each([
    ['Thrower', 'thrown at once'],
    ['Rejecter', 'rejected later'],
    ['BadDrawer', ''],
    ['Circular', ''],
  ])('%s that fails is an error of its call alone', async (name, text) => {
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const { calls, results } = await client.execute(sessionId, [
      block(name, { name: 'a' }),
      block('Greet', { name: 'b' }),
    ]);
    expect(calls).toMatchObject([{ status: 'error', error_code: 'tool_failed' }, { status: 'ok' }]);
    expect(results[0]?.content).toContain(text);
  });

  it('that leaves a rejection behind takes nobody down', async () => {
    expect((await run('Stray')).calls[0]).toMatchObject({ status: 'ok' });
    expect((await run('Greet')).calls[0]).toMatchObject({ status: 'ok' });
  });
});

describe('a plugin that cannot be used', () => {
  it.each([
    ['is not there', undefined],
    ['throws', 'throw new Error("no licence")'],
    ["takes a built-in's name", OLD.replace("'Count'", "'Bash'")],
    ["takes a built-in's alias", OLD.replace("'Count'", "'FileRead'")],
    ['has no call', OLD.replace('call:', 'cull:')],
  ])('stops the start: %s', async (_what, source) => {
    const home = serverHome();
    if (source !== undefined) writeFileSync(join(home, 'data', 'bad.mjs'), source);
    const { code, stderr } = await runServer({ home, settings: { plugins: ['./bad.mjs'] } });
    expect(code).toBe(78);
    expect(stderr).toContain('bad.mjs');
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
