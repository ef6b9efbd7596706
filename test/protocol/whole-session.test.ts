/**
 * One whole session of a coding agent: a model on the real wire explores, plans, asks, edits, tests, searches for help and
 * hands back its result, while the server is killed twice.
 */
import Anthropic from '@anthropic-ai/sdk';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type BuiltServer, serverHome, startServer } from '../helpers/built-server.ts';
import { packageServer } from '../helpers/mcp-servers.ts';
import { scriptedModel, type ScriptedStep, type SeenRequest } from '../helpers/scripted-model.ts';
import { until, wireClient, type WireBody, type WireClient } from '../helpers/wire-client.ts';

/** Three servers start in it. */
const THREE_STARTS = { timeout: 120_000 };

const FILES = {
  'src/add.mjs': 'export const add = (a, b) => a - b;\n',
  'src/label.mjs': "export const label = 'summ';\n",
  'README.md': '# Sumsy\n\nAdds numbers, badly.\n',
  'test/add.test.mjs': `import { equal } from 'node:assert';
import { test } from 'node:test';
import { add } from '../src/add.mjs';
import { label } from '../src/label.mjs';
test('adds', () => equal(add(1, 2), 3));
test('has a label', () => equal(label, 'sum'));
`,
};
const SKILL = '---\nname: release-notes\ndescription: How notes are written\n---\nOne line for $ARGUMENTS.\n';
const RESULT_SCHEMA = {
  type: 'object',
  properties: { changed: { type: 'array', items: { type: 'string' } }, tests: { type: 'string' } },
  required: ['changed', 'tests'],
  additionalProperties: false,
};

const site = createServer((_request, reply) =>
  reply.setHeader('content-type', 'text/html').end('<title>Sums</title><h1>How to add</h1><p>Use <b>+</b></p>'),
);
afterAll(() => site.close());

const call = (name: string, input: object) => ({ name, input });
const edit = (cwd: string, path: string, old_string: string, new_string: string) =>
  call('Edit', { file_path: join(cwd, path), old_string, new_string });
const lastTask = ({ results }: SeenRequest) =>
  /as task (\S+)\./.exec(results.findLast((text) => text.includes('as task ')) ?? '')?.[1];

/** What the model does, one message each. The client decides on the way when the server is killed. */
function script(cwd: string, port: number): readonly ((request: SeenRequest) => ScriptedStep)[] {
  const explore = (prompt: string) => call('Agent', { description: 'Look around', prompt });
  const readAll = Object.keys(FILES).map((path) => call('Read', { file_path: join(cwd, path) }));
  const runTests = call('Bash', { command: 'node --test test/', run_in_background: true });
  const follow = (request: SeenRequest) => ({
    calls: [call('TaskOutput', { task_id: lastTask(request), timeout: 60_000 })],
  });
  const todo = (status: string) =>
    call('TodoWrite', { todos: [{ content: 'Mend add', status, activeForm: 'Mending add' }] });
  return [
    () => ({
      text: 'I look around.',
      calls: [
        ...readAll,
        call('Grep', { pattern: 'add', output_mode: 'content' }),
        call('Glob', { pattern: '**/*.mjs' }),
        explore('hang forever'),
      ],
    }),
    () => ({ text: 'The agent was interrupted; again.', calls: [...readAll, explore('explore the folder')] }),
    () => ({ calls: [call('EnterPlanMode', {})] }),
    () => ({
      calls: [
        call('AskUserQuestion', {
          questions: [
            {
              question: 'Which label?',
              header: 'Label',
              multiSelect: false,
              options: [
                { label: 'sum', description: 'Short' },
                { label: 'addition', description: 'Long' },
              ],
            },
          ],
        }),
      ],
    }),
    () => ({ calls: [call('ExitPlanMode', { plan: 'Mend add, label and the README' })] }),
    ({ results }) => ({
      text: `By the plan: ${results.at(-1)}`,
      calls: [
        todo('in_progress'),
        edit(cwd, 'src/add.mjs', 'a - b', 'a + b'),
        edit(cwd, 'src/label.mjs', 'summ', 'sum'),
        edit(cwd, 'README.md', ', badly', ''),
      ],
    }),
    () => ({ calls: [call('Bash', { command: 'sleep 60; node --test test/', run_in_background: true })] }),
    follow,
    () => ({ text: 'It ended with the server; once more.', calls: [runTests] }),
    follow,
    () => ({
      calls: [
        todo('completed'),
        call('WebFetch', { url: `http://127.0.0.1:${port}/` }),
        call('Skill', { skill: 'release-notes', args: 'the mended sum' }),
        call('mcp__everything__echo', { message: 'hello from afar' }),
      ],
    }),
    ({ results }) => {
      const tests = /pass 2/.test(results.join('\n')) ? '2 passed' : 'failed';
      return { calls: [call('StructuredOutput', { changed: ['src/add.mjs', 'src/label.mjs', 'README.md'], tests })] };
    },
    () => ({ text: 'Done.' }),
  ];
}

/** The child's model: it looks once, unless it hangs. */
function childStep({ prompt, turn, results }: SeenRequest): ScriptedStep {
  if (prompt.startsWith('hang')) return { text: 'Thinking', ending: 'hang' };
  return turn === 0 ? { calls: [call('Glob', { pattern: 'src/*' })] } : { text: `There is ${results[0]}` };
}

/** A loop as strangers write it: the vendor's SDK for the model, `POST /execute` for its calls. */
async function runAgent(
  anthropic: Anthropic,
  tools: Anthropic.Tool[],
  execute: (blocks: readonly Anthropic.ToolUseBlock[]) => Promise<WireBody>,
) {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'main: mend the sums' }];
  for (;;) {
    const message = await anthropic.messages
      .stream({ model: 'scripted', max_tokens: 1_000, tools, messages })
      .finalMessage();
    messages.push({ role: 'assistant', content: message.content });
    const blocks = message.content.filter((block) => block.type === 'tool_use');
    if (blocks.length === 0) return messages;
    const { results } = await execute(blocks);
    messages.push({ role: 'user', content: results as unknown as Anthropic.ToolResultBlockParam[] });
  }
}

it(
  'a whole session gives each accepted call one result, however often the server is killed',
  THREE_STARTS,
  async () => {
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    const { port } = site.address() as AddressInfo;
    const home = serverHome();
    const cwd = join(home, 'workspace', 'sums');
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), text);
    }
    mkdirSync(join(home, 'skills/release-notes'), { recursive: true });
    writeFileSync(join(home, 'skills/release-notes/SKILL.md'), SKILL);

    const steps = script(cwd, port);
    const model = await scriptedModel((request) =>
      request.prompt.startsWith('main') ? (steps[request.turn]?.(request) ?? {}) : childStep(request),
    );
    const settings = {
      models: { default: model.settings() },
      skills: [join(home, 'skills')],
      mcpServers: { everything: packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio') },
      webFetch: { allowPrivate: [`127.0.0.1:${port}`] },
      permissions: {
        allow: [
          'Bash(node --test:*)',
          'Bash(sleep:*)',
          'Agent',
          'WebFetch(domain:127.0.0.1)',
          'mcp__everything',
          'Edit',
        ],
      },
    };
    const start = async (): Promise<{ server: BuiltServer; client: WireClient }> => {
      const server = await startServer({ home, settings, mayKeep: ['server-everything'] });
      const client = wireClient(server);
      await until(async () =>
        (await client.get('/tools')).body.tools.some(({ name }) => name === 'mcp__everything__echo'),
      );
      return { server, client };
    };
    let { server, client } = await start();
    const session = await client.session({ cwd, output_schema: RESULT_SCHEMA });
    const states = async () =>
      (await client.frames(session)).map((frame) => `${frame.type} ${String(frame['tool_use_id'] ?? '')}`);

    /** Kill the server as soon as this is in the log, and start it again. */
    const killAt = async (isThere: () => Promise<boolean>) => {
      await until(async () => (await isThere()) || undefined);
      await server.end('SIGKILL');
      ({ server, client } = await start());
    };
    const answer = async (body: (input: Record<string, unknown>) => object) => {
      const prompt = await until(async () => (await client.get(`/sessions/${session}/prompts`)).body.prompts[0]);
      const answered = body(prompt['input'] as Record<string, unknown>);
      const { status, text } = await client.post(`/sessions/${session}/prompts/${prompt.request_id}`, answered);
      expect([status, text]).toMatchObject([200, expect.anything()]);
    };
    let hasWaited = false;
    const execute = async (blocks: readonly Anthropic.ToolUseBlock[]): Promise<WireBody> => {
      const last = blocks.at(-1);
      const isHanging = last?.name === 'Agent' && JSON.stringify(last.input).includes('hang');
      const posted = client.execute(session, blocks, { on_ask: 'wait' });
      if (isHanging || (last?.name === 'TaskOutput' && !hasWaited)) {
        hasWaited ||= !isHanging;
        const started = `started ${last.id}`;
        await Promise.all([
          expect(posted).rejects.toThrow(),
          killAt(
            async () =>
              (await states()).includes(started) &&
              (!isHanging || model.requests.some(({ prompt }) => prompt.startsWith('hang'))),
          ),
        ]);
        return client.execute(session, blocks);
      }
      if (last?.name === 'AskUserQuestion')
        await answer((input) => ({
          behavior: 'allow',
          updated_input: { ...input, answers: { 'Which label?': 'sum' } },
        }));
      if (last?.name === 'ExitPlanMode')
        await answer((input) => ({
          behavior: 'allow',
          updated_input: { ...input, review: { plan: `${String(input['plan'])}, no more`, mode: 'default' } },
        }));
      return posted;
    };

    const listed = (await client.get(`/tools?format=anthropic&session_id=${session}`)).body.tools;
    const anthropic = new Anthropic({ apiKey: 'key', baseURL: model.url, maxRetries: 0 });
    const messages = await runAgent(anthropic, listed as unknown as Anthropic.Tool[], execute);

    const said = JSON.stringify(messages);
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: [{ text: 'Done.' }] });
    for (const [path, text] of [
      ['src/add.mjs', 'a + b'],
      ['src/label.mjs', "'sum'"],
      ['README.md', 'Adds numbers.'],
    ] as const)
      expect(readFileSync(join(cwd, path), 'utf8')).toContain(text);
    for (const part of [
      'Which label?',
      'Mend add, label and the README, no more',
      'How to add',
      'the mended sum',
      'hello from afar',
    ])
      expect(said).toContain(part);
    expect(said).toMatch(/There is .*add\.mjs/);
    expect(said).toContain('"tests":"2 passed"');

    const frames = await client.frames(session);
    const accepted = frames.flatMap(({ type, tool_use }) =>
      type === 'tool_use' ? [(tool_use as { id: string }).id] : [],
    );
    const results = frames.filter(({ type }) => type === 'result');
    expect(results.map(({ tool_use_id }) => tool_use_id).sort()).toEqual([...accepted].sort());
    const interrupted = results.filter((frame) => (frame['call'] as { status: string }).status === 'interrupted');
    expect(interrupted.map((frame) => (frame['call'] as { name: string }).name)).toEqual(['Agent', 'TaskOutput']);
    const failed = results.filter(
      (frame) => (frame['call'] as { status: string }).status !== 'ok' && !interrupted.includes(frame),
    );
    expect(failed.map((frame) => JSON.stringify(frame['tool_result']))).toEqual([]);
    expect(frames.filter(({ type }) => type === 'task_ended')).toMatchObject([
      { status: 'interrupted' },
      { status: 'completed' },
    ]);
  },
);
