/** PROTOCOL 2, 4 and 5: what MCP servers ask while one of their calls runs, and what is kept of their words. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Display, DisplayForm } from '../../src/wire/display.ts';
import { startServer } from '../helpers/built-server.ts';
import { packageServer } from '../helpers/mcp-servers.ts';
import { scriptedModel, type SeenRequest } from '../helpers/scripted-model.ts';
import { block, until, wireClient, type WireClient, type WirePrompt } from '../helpers/wire-client.ts';

let client: WireClient;
let asked: readonly SeenRequest[];
const everything = packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio');

beforeAll(async () => {
  const model = await scriptedModel(() => ({ text: 'words of the model' }));
  asked = model.requests;
  const server = await startServer({
    mayKeep: ['server-everything'],
    settings: {
      permissions: { allow: ['mcp__everything', 'mcp__own', 'mcp__quiet'] },
      models: { default: { provider: 'anthropic', baseUrl: model.url, model: 'tiny' } },
      mcpSampling: { maxTokens: 50 },
      mcpServers: {
        everything,
        own: { ...everything, connection: 'session' },
        quiet: { ...everything, connection: 'shared' },
      },
    },
  });
  client = wireClient(server);
  await until(async () => (await client.get('/readyz')).status === 200);
  await until(async () => {
    const names = (await client.get('/tools')).body.tools.map(({ name }) => name);
    return ['everything', 'own', 'quiet'].every((server) => names.includes(`mcp__${server}__echo`)) && names;
  });
});

const ELICIT = 'mcp__everything__trigger-elicitation-request';
const run = (id: string, name: string, input: object = {}) => client.execute(id, [block(name, input)]);
const blocksOf = (asking: WirePrompt) => (asking['display'] as Display).blocks;
const session = (options: object = {}) => client.session({ on_ask: 'wait', ...options });

const question = (id: string): Promise<WirePrompt> =>
  until(async () => (await client.get(`/sessions/${id}/prompts`)).body.prompts[0]);

const answer = (id: string, { request_id }: WirePrompt, body: object) =>
  client.post(`/sessions/${id}/prompts/${request_id}`, body);

describe('a server that asks for values', () => {
  it('has its form in a question of the session, and gets the values', async () => {
    const id = await session();
    const running = run(id, ELICIT);
    const asking = await question(id);
    expect(asking).toMatchObject({ tool_name: ELICIT, title: expect.stringContaining('MCP server "everything"') });
    const form = blocksOf(asking).find(({ kind }) => kind === 'form') as DisplayForm;
    expect(form).toMatchObject({ key: 'answers' });
    expect(form.fields).toContainEqual(expect.objectContaining({ name: 'check', type: 'boolean' }));
    expect(form.fields).toContainEqual(
      expect.objectContaining({ name: 'titledSingleSelectEnum', type: 'choice', value: 'hero-1' }),
    );

    const wrong = await answer(id, asking, { behavior: 'allow', updated_input: { answers: { name: 7, odd: 1 } } });
    expect(wrong).toMatchObject({ status: 400 });
    expect(wrong.text).toMatch(/`odd`[^]*updated_input\.answers\.name/);

    const right = { behavior: 'allow', updated_input: { answers: { name: 'Ada', integer: 41 } } };
    expect(await answer(id, asking, right)).toMatchObject({ status: 200 });
    const { calls, results } = await running;
    expect(calls[0]).toMatchObject({ status: 'ok' });
    expect(JSON.stringify(results[0])).toMatch(/Ada[^]*41/);
  });

  it('is told of a no, and of nobody to ask, by words of their own', async () => {
    const id = await session();
    const running = run(id, ELICIT);
    await answer(id, await question(id), { behavior: 'deny' });
    expect(JSON.stringify((await running).results[0])).toMatch(/declined/i);
    const alone = await client.execute(await session({ on_ask: 'deny' }), [block(ELICIT, {})]);
    expect(JSON.stringify(alone.results[0])).toMatch(/cancel/i);
  });

  it('has a connection for each session from then on, and its answers stay in theirs', async () => {
    const [one, other] = [await session(), await session()];
    const both = [run(one, ELICIT), run(other, ELICIT)];
    for (const id of [one, other]) {
      const values = { answers: { name: `of ${id}` } };
      await answer(id, await question(id), { behavior: 'allow', updated_input: values });
    }
    const [first, second] = (await Promise.all(both)).map(({ results }) => JSON.stringify(results[0]));
    expect([first, second]).toEqual([expect.stringContaining(`of ${one}`), expect.stringContaining(`of ${other}`)]);
  });

  it('has its question withdrawn with the call', async () => {
    const id = await session();
    const running = run(id, ELICIT);
    await question(id);
    await client.post(`/sessions/${id}/cancel`, {});
    expect((await running).calls[0]).toMatchObject({ status: 'cancelled' });
    expect((await client.get(`/sessions/${id}/prompts`)).body.prompts).toEqual([]);
  });

  it('can send the person to a page', async () => {
    const id = await session();
    const running = run(id, 'mcp__everything__trigger-url-elicitation', { url: 'https://example.com/login' });
    const asking = await question(id);
    expect(blocksOf(asking)).toContainEqual(
      expect.objectContaining({ kind: 'link', href: 'https://example.com/login' }),
    );
    await answer(id, asking, { behavior: 'allow' });
    expect((await running).calls[0]).toMatchObject({ status: 'ok' });
  });

  it('is told that nobody can be asked where its connection is shared for good', async () => {
    const names = (await client.get('/tools')).body.tools.map(({ name }) => name);
    expect(names).toContain(ELICIT);
    expect(names).not.toContain('mcp__quiet__trigger-elicitation-request');
  });
});

describe('a server that asks for a message of a model', () => {
  const SAMPLE = 'mcp__own__trigger-sampling-request';

  it('gets it after the person saw the whole prompt', async () => {
    const id = await session();
    const running = run(id, SAMPLE, { prompt: 'a prompt to be seen', maxTokens: 5_000 });
    const asking = await question(id);
    expect(JSON.stringify(asking['display'])).toContain('a prompt to be seen');
    expect(asked).toHaveLength(0);
    await answer(id, asking, { behavior: 'allow' });
    expect(JSON.stringify((await running).results[0])).toContain('words of the model');
    expect(asked.at(-1)?.body).toMatchObject({ model: 'tiny', max_tokens: 50 });
    expect(asked.at(-1)?.body['tools'] ?? []).toEqual([]);
  });

  it('gets an error after a no, and no model is asked', async () => {
    const before = asked.length;
    const id = await session();
    const running = run(id, SAMPLE, { prompt: 'no' });
    await answer(id, await question(id), { behavior: 'deny' });
    expect((await running).calls[0]).toMatchObject({ status: 'error' });
    expect(asked).toHaveLength(before);
  });
});

describe('a server with a connection for each session', () => {
  it('is told the directories of the session', async () => {
    const id = await session();
    const { body } = await client.get(`/sessions/${id}`);
    const { results } = await run(id, 'mcp__own__get-roots-list');
    expect(JSON.stringify(results[0])).toContain(`file://${String(body['cwd'])}`);
  });

  it('keeps what it knows for the session, and ends with it', async () => {
    const [one, other] = [await session(), await session()];
    await run(one, 'mcp__own__toggle-simulated-logging');
    expect(JSON.stringify((await run(one, 'mcp__own__toggle-simulated-logging')).results[0])).toMatch(/stop/i);
    expect(JSON.stringify((await run(other, 'mcp__own__toggle-simulated-logging')).results[0])).toMatch(/start/i);
  });
});

describe('what a server says', () => {
  it('is kept whole for clients, beside what the model gets', async () => {
    const id = await session();
    const { results } = await run(id, 'mcp__everything__get-structured-content', { location: 'Chicago' });
    expect(JSON.stringify(results[0])).toContain('temperature');
    const frame = (await client.frames(id)).find(({ type }) => type === 'result');
    expect(frame).toMatchObject({ mcp_result: { structuredContent: { temperature: expect.any(Number) } } });
  });

  it('of its tools is listed whole in the format of MCP', async () => {
    const { tools } = (await client.get('/tools?format=mcp')).body;
    const tool = tools.find(({ name }) => name === 'mcp__everything__get-structured-content');
    expect(tool).toMatchObject({
      title: expect.any(String),
      inputSchema: { $schema: expect.any(String) },
      outputSchema: { properties: { temperature: {} } },
    });
  });
});
