/** Agents: models that work with tools by themselves, over the built server and a scripted model. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { type ScriptedModel, scriptedModel, type ScriptedStep, type SeenRequest } from '../helpers/scripted-model.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

/** Scripts by the first word of the prompt: tests run beside each other over one model. */
const scripts = new Map<string, (request: SeenRequest) => ScriptedStep | Promise<ScriptedStep>>();
let model: ScriptedModel;
let server: BuiltServer;
let client: WireClient;
let count = 0;

beforeAll(async () => {
  model = await scriptedModel((request) => {
    const script = scripts.get(request.prompt.split(' ')[0] ?? '');
    if (!script) throw new Error(`No script for "${request.prompt}"`);
    return script(request);
  });
  server = await startServer({ settings: settings() });
  client = wireClient(server);
});

const settings = (more: object = {}) => ({
  models: {
    default: model.settings(),
    chat: model.settings('openai'),
    other: model.settings('anthropic', { model: 'o' }),
  },
  ...more,
});

/** A prompt whose agent does as the script says, one step a message. */
function scripted(...steps: readonly (ScriptedStep | ((request: SeenRequest) => ScriptedStep))[]): string {
  const word = `script${(count += 1)}`;
  scripts.set(word, (request) => {
    const step = steps[Math.min(request.turn, steps.length - 1)] ?? {};
    return typeof step === 'function' ? step(request) : step;
  });
  return `${word} please`;
}

const requestsFor = (prompt: string) => model.requests.filter((request) => request.prompt === prompt);
const bash = (command: string) => ({ name: 'Bash', input: { command } });

/** A session in a folder of its own. */
async function begin(more: object = {}, at: { server: BuiltServer; client: WireClient } = { server, client }) {
  const cwd = join(at.server.workspace, `agents-${(count += 1)}`);
  mkdirSync(cwd, { recursive: true });
  const id = await at.client.session({ cwd, mode: 'bypassPermissions', ...more });
  return {
    id,
    cwd,
    isThere: (file: string) => existsSync(join(cwd, file)),
    agent: async (input: object, toolUseId?: string) => {
      const call = block('Agent', { description: 'a test', ...input }, toolUseId);
      const { results, calls } = await at.client.execute(id, [call]);
      return { text: textOf(results[0]?.content), call: calls[0] };
    },
    run: async (name: string, input: object) => {
      const { results, calls } = await at.client.execute(id, [block(name, input)]);
      return { text: textOf(results[0]?.content), call: calls[0] };
    },
  };
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return (content as readonly { text?: string }[]).map(({ text = '' }) => text).join('\n');
}

/** The id in an answer such as `task_id: agent_1`. */
const taskIdIn = (text: string) => /task_id: (\S+)/.exec(text)?.[1] ?? '';

describe('an agent', () => {
  it.each([['default'], ['chat']])('of model "%s" works with tools until it reports', async (name) => {
    const prompt = scripted(
      { text: 'I look', calls: [bash('echo from the tool'), { name: 'Glob', input: { pattern: '*' } }] },
      (request) => ({ text: `It said: ${request.results[0]}` }),
    );
    const session = await begin();
    writeFileSync(join(session.cwd, 'a-file'), '');
    const { text, call } = await session.agent({ prompt, model: name });
    expect(call).toMatchObject({ status: 'ok', name: 'Agent' });
    expect(text).toMatch(/^It said: from the tool\n\(agent ses_\S+: 2 turns, 2 calls, 30 tokens, /);
    const [first, second] = requestsFor(prompt);
    expect(first?.toolNames).toEqual(expect.arrayContaining(['Agent', 'Bash', 'Edit', 'Read']));
    expect(first?.system).toContain(session.cwd);
    expect(second?.results[1]).toContain('a-file');
  });

  it('starts its calls while its model still writes, and shows them in the stream of its caller', async () => {
    const calls = [0, 1, 2].map(() => ({ name: 'Sleep', input: { duration_ms: 500 }, delayMs: 250 }));
    const prompt = scripted({ text: 'I wait', calls }, { text: 'Done' });
    const session = await begin();
    const { text } = await session.agent({ prompt }, 'shown');
    expect(text).toContain('Done');
    const childId = /agent (ses_\S+):/.exec(text)?.[1] ?? '';
    const accepted = (await client.frames(childId)).filter(({ type }) => type === 'tool_use');
    const times = accepted.map((frame) => Date.parse(String(frame['ts'])));
    // The model takes 500 ms from its first call to its third.
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(400);
    const progress = (await client.frames(session.id)).filter(({ type }) => type === 'progress');
    expect(progress.every(({ tool_use_id }) => tool_use_id === 'shown')).toBe(true);
    const drawn = progress.map(({ data, display }) => [
      (data as { type: string; frame?: { type: string } }).frame?.type ?? (data as { type: string }).type,
      (display as { title?: string } | undefined)?.title,
    ]);
    expect(drawn).toEqual(
      expect.arrayContaining([
        ['agent_text', 'Agent'],
        ['tool_use', expect.stringContaining('Sleep')],
      ]),
    );
  });

  it('gets ids of any alphabet, and the same in each message, as its model gave them', async () => {
    const odd = { ...bash('echo one'), id: 'functions.Bash:0' };
    const prompt = scripted(
      { calls: [odd] },
      { calls: [{ ...bash('echo two'), id: 'call_0' }] },
      { calls: [{ ...bash('echo three'), id: 'call_0' }] },
      (request) => ({
        text: request.results.join(' '),
      }),
    );
    const { text } = await (await begin()).agent({ prompt, model: 'chat' });
    expect(text).toMatch(/^one two three\n/);
  });

  it('is told what was wrong with a call, and goes on', async () => {
    const prompt = scripted(
      {
        calls: [
          { name: 'Read', input: '{"file_path": ' },
          { name: 'Nothing', input: {} },
        ],
      },
      (request) => ({ text: request.results.join(' | ') }),
    );
    const { text } = await (await begin()).agent({ prompt });
    expect(text).toContain('InputValidationError');
    expect(text).toContain('"Nothing"');
  });

  it('that its model fails is an error that says why, without the key', async () => {
    const prompt = scripted({ status: 400, text: 'prompt is too long for canary-model-key' });
    const { text, call } = await (await begin()).agent({ prompt });
    expect(call).toMatchObject({ status: 'error', error_code: 'tool_failed' });
    expect(text).toContain('prompt is too long');
    expect(text).not.toContain('canary-model-key');
    expect(server.logged()).not.toContain('canary-model-key');
  });

  it('of a type or model that is not there is refused with those that are', async () => {
    const session = await begin();
    const wrongType = await session.agent({ prompt: 'x', subagent_type: 'Explorer' });
    expect(wrongType).toMatchObject({
      call: { error_code: 'invalid_input' },
      text: expect.stringContaining('"Explore"'),
    });
    const wrongModel = await session.agent({ prompt: 'x', model: 'opus' });
    expect(wrongModel.text).toContain('Use one of "default", "chat", "other"');
  });

  it('that is cancelled ends with all it runs', async () => {
    const prompt = scripted({ calls: [bash('sleep 60; touch made')] });
    const session = await begin();
    const running = session.agent({ prompt }, 'c');
    await until(async () => (await client.get('/sessions')).text.includes('"name":"Bash"'));
    await client.post(`/sessions/${session.id}/cancel`, { tool_use_id: 'c' });
    expect((await running).call).toMatchObject({ status: 'cancelled' });
  });

  it('may begin agents of its own, so many levels deep', async () => {
    const nested = (level: number): string =>
      scripted(
        level === 0
          ? { text: 'The bottom' }
          : { calls: [{ name: 'Task', input: { description: 'deeper', prompt: nested(level - 1) } }] },
        (request) => ({ text: request.results.join() }),
      );
    const session = await begin();
    expect((await session.agent({ prompt: nested(2) })).text).toContain('The bottom');
    expect((await session.agent({ prompt: nested(4) })).text).toContain('levels deep at most');
  });
});

describe('the permissions of an agent', () => {
  it('are those of its caller, and it asks where its caller would', async () => {
    const prompt = scripted({ calls: [bash('touch denied'), bash('touch asked')] }, { text: 'Done' });
    const session = await begin({ mode: 'default', on_ask: 'wait', rules: { deny: ['Bash(touch denied)'] } });
    const running = session.agent({ prompt }, 'a');
    const asked = await until(async () => (await client.get(`/sessions/${session.id}/prompts`)).body.prompts[0]);
    expect(asked).toMatchObject({ tool_name: 'Bash', parent_tool_use_id: 'a', input: { command: 'touch asked' } });
    await client.post(`/sessions/${session.id}/prompts/${asked.request_id}`, { behavior: 'allow' });
    expect((await running).call).toMatchObject({ status: 'ok' });
    expect([session.isThere('denied'), session.isThere('asked')]).toEqual([false, true]);
  });

  it('of a reading type are those of plan mode, whatever its caller may', async () => {
    const prompt = scripted({ calls: [bash('touch made'), bash('echo read')] }, (request) => ({
      text: request.results.join(' | '),
    }));
    const session = await begin();
    const { text } = await session.agent({ prompt, subagent_type: 'Explore' });
    expect(text).toMatch(/plan mode.* \| read/);
    expect(session.isThere('made')).toBe(false);
    expect(requestsFor(prompt)[0]?.toolNames).toEqual(['Bash', 'Glob', 'Grep', 'Read', 'WebFetch']);
  });

  it('can be refused by a rule that names its type, under any name of the tool', async () => {
    const prompt = scripted({ text: 'Done' });
    const session = await begin({ rules: { deny: ['Task(Explore)'] } });
    expect((await session.agent({ prompt, subagent_type: 'Explore' })).call).toMatchObject({ status: 'denied' });
    expect((await session.agent({ prompt })).call).toMatchObject({ status: 'ok' });
    const hidden = await begin({ rules: { deny: ['Agent'] } });
    expect((await hidden.agent({ prompt })).call).toMatchObject({ status: 'denied' });
  });

  it('need no question in any mode, since each of its calls is judged', async () => {
    const prompt = scripted({ calls: [bash('touch made')] }, { text: 'Done' });
    const session = await begin({ mode: 'plan' });
    expect((await session.agent({ prompt })).call).toMatchObject({ status: 'ok' });
    expect(session.isThere('made')).toBe(false);
  });
});

describe('a bound of an agent', () => {
  it('is told with what the agent said last', async () => {
    const other = await startServer({
      settings: settings({ limits: { agentTurns: 3, agentTokens: 1_000, agentMs: 6_000 } }),
    });
    const session = await begin({}, { server: other, client: wireClient(other) });
    const endless = scripted({ text: 'Once more', calls: [bash('echo again')] });
    expect((await session.agent({ prompt: endless })).text).toMatch(
      /^Incomplete: the agent was ended, since it took 3 turns.*What it said last:\nOnce more/s,
    );
    const dear = scripted({ text: 'Dear', calls: [bash('echo x')], usage: { input: 900, output: 200 } });
    expect((await session.agent({ prompt: dear })).text).toContain('it used 1000 tokens, the maximum');
    const slow = scripted({ text: 'Slow', calls: [{ name: 'Sleep', input: { duration_ms: 60_000 } }] });
    expect((await session.agent({ prompt: slow })).text).toContain('it worked for 6 s, the maximum');
  });
});

describe('a typed result', () => {
  const schema = { type: 'object', properties: { lines: { type: 'integer' } }, required: ['lines'] };

  it('is data that fits the schema, corrected where it did not', async () => {
    const result = (lines: unknown) => ({ calls: [{ name: 'StructuredOutput', input: { lines } }] });
    const prompt = scripted({ text: 'I have counted' }, result('many'), result(3));
    const { text } = await (await begin()).agent({ prompt, output_schema: schema });
    expect(text).toMatch(/^\{"lines":3\}\n/);
    expect(requestsFor(prompt)[1]?.conversation).toContain('Hand over the result now: call StructuredOutput');
  });

  it('that never comes is told', async () => {
    const prompt = scripted({ text: 'Three, I think' });
    const { text } = await (await begin()).agent({ prompt, output_schema: schema });
    expect(text).toMatch(/^Incomplete: .*no result that fits the schema.*Three, I think/s);
    const bad = await (await begin()).agent({ prompt, output_schema: { type: 'array' } });
    expect(bad).toMatchObject({ call: { status: 'error' }, text: expect.stringContaining('"type" must be "object"') });
  });
});

describe('a type of agent from a file', () => {
  it('has its own words, tools, model and bounds', async () => {
    const folder = join(server.home, 'types');
    mkdirSync(folder, { recursive: true });
    const head = 'name: reviewer\ndescription: Reviews a change\ntools: Read, Bash\nmodel: other\nmaxTurns: 2';
    writeFileSync(join(folder, 'reviewer.md'), `---\n${head}\n---\nYou review with care.\n`);
    writeFileSync(join(folder, 'broken.md'), 'nothing');
    const other = await startServer({ settings: settings({ agents: [folder] }) });
    const at = wireClient(other);
    const { tools } = (await at.get('/tools?schemas=full')).body;
    expect(JSON.stringify(tools.find(({ name }) => name === 'Agent'))).toContain('- reviewer: Reviews a change');
    expect(other.logged()).toContain('broken.md');
    const prompt = scripted({ text: 'On it', calls: [bash('echo x')] });
    const session = await begin({}, { server: other, client: at });
    expect((await session.agent({ prompt, subagent_type: 'reviewer' })).text).toContain('it took 2 turns');
    const [first] = requestsFor(prompt);
    expect(first).toMatchObject({ toolNames: ['Bash', 'Read'], body: { model: 'o' } });
    expect(first?.system).toMatch(/^You review with care\./);
  });

  it('is not needed, but a model is: without one no agent tool is listed, and the reason is told', async () => {
    const other = await startServer();
    const at = wireClient(other);
    const names = (await at.get('/tools?schemas=none')).body.tools.map(({ name }) => name);
    expect(names.filter((name) => /Agent|SendMessage|Team/.test(name))).toEqual([]);
    const { tools } = (await at.get('/tools?format=full')).body;
    expect(tools.find(({ name }) => name === 'Agent')).toMatchObject({ state: expect.stringContaining('"models"') });
  });
});

describe('an agent in the background', () => {
  it('works on, is followed by TaskOutput, and its report is the end of its output', async () => {
    const prompt = scripted({ text: 'I begin', calls: [bash('touch made; exit 3')] }, { text: 'The report' });
    const session = await begin();
    const { text } = await session.agent({ prompt, run_in_background: true });
    const taskId = taskIdIn(text);
    expect(taskId).toMatch(/^agent_/);
    const read = await session.run('AgentOutput', { agentId: taskId });
    expect(read.text).toMatch(/status: completed[^]*session: ses_[^]*I begin\n> Bash .*\n! Bash: [^]*The report$/);
    expect(session.isThere('made')).toBe(true);
    const { body } = await client.get(`/sessions/${session.id}/tasks/${taskId}/output`);
    expect(body['text']).toContain('The report\n');
  });

  it('that fails says why, and what it wrote up to then is kept', async () => {
    const prompt = scripted({ text: 'I begin', calls: [bash('echo x')] }, { status: 400, text: 'no more' });
    const session = await begin();
    const { text } = await session.agent({ prompt, run_in_background: true });
    const read = await session.run('TaskOutput', { task_id: taskIdIn(text) });
    expect(read.text).toMatch(/status: failed\nnote: Cannot get a message from model .*no more[^]*I begin/);
  });

  it('ends with all it runs when its task is stopped', async () => {
    const prompt = scripted({ calls: [bash('sleep 60')] });
    const session = await begin();
    const taskId = taskIdIn((await session.agent({ prompt, run_in_background: true })).text);
    await until(async () => (await client.get('/sessions')).text.includes('"name":"Bash"'));
    expect((await session.run('TaskStop', { task_id: taskId })).text).toContain('was ended');
    expect((await session.run('TaskOutput', { task_id: taskId })).text).toContain('status: killed');
  });
});

describe('agents with names', () => {
  it('write to each other and to the agent that began them', async () => {
    const session = await begin();
    // Waits for mail by working on until it has come.
    const waiting = scripted(
      ...Array.from({ length: 60 }, () => (request: SeenRequest): ScriptedStep => {
        const mail = /<message from=.*?<\/message>/s.exec(
          JSON.parse(`{"c":${request.conversation}}`) && request.conversation,
        )?.[0];
        return mail ? { text: `Got ${mail}` } : { calls: [{ name: 'Sleep', input: { duration_ms: 50 } }] };
      }),
    );
    const task = await session.agent({ prompt: waiting, name: 'reader', run_in_background: true });
    await until(async () => requestsFor(waiting).length > 0);
    const taken = await session.agent({ prompt: waiting, name: 'reader' });
    expect(taken).toMatchObject({ call: { status: 'error' }, text: expect.stringContaining('works already') });
    const write = (to: string) => ({ name: 'SendMessage', input: { to, message: `hello ${to}` } });
    const writer = scripted({ calls: [write('reader'), write('main'), write('nobody')] }, (request) => ({
      text: request.results.join(' | '),
    }));
    const { text } = await session.agent({ prompt: writer, name: 'writer' });
    expect(text).toMatch(/^Sent to reader\. \| Sent to main\. \| .*No agent is called "nobody"/);
    expect(text).toContain('<message from="writer">\nhello main\n</message>');
    const read = await session.run('TaskOutput', { task_id: taskIdIn(task.text) });
    expect(read.text).toMatch(/status: completed[^]*Got .*from=.*writer.*hello reader/);
    const late = await session.run('SendMessage', { to: 'reader', message: 'too late' });
    expect(late.text).toContain('No agent is called "reader"');
  });

  it('in a team know of it, and their mail waits for them over kill -9', async () => {
    const own = await startServer({ settings: settings() });
    const at = { server: own, client: wireClient(own) };
    const session = await begin({}, at);
    expect((await session.run('TeamCreate', { name: 'crew', description: 'We count.' })).text).toContain(
      '"crew" is there',
    );
    expect((await session.run('TeamCreate', { name: 'other' })).text).toContain('has a team already, "crew"');
    const first = scripted({ text: 'Done' });
    await session.agent({ prompt: first, name: 'ann' });
    expect(requestsFor(first)[0]?.system).toContain('You are in the team "crew". We count.');
    expect((await session.run('SendMessage', { to: '*', message: 'count the files' })).text).toMatch(
      /Sent to ann\. .*waits/,
    );
    const ben = scripted({
      calls: [{ name: 'SendMessage', input: { to: 'main', message: 'ben was here' } }, bash('sleep 60')],
    });
    const running = session.agent({ prompt: ben, name: 'ben' }, 'killed').catch(() => undefined);
    const sent = async () => {
      const { sessions } = (await at.client.get('/sessions')).body;
      for (const { session_id } of sessions) {
        const frames = await at.client.frames(session_id);
        if (frames.some((frame) => frame.type === 'result' && JSON.stringify(frame).includes('Sent to main')))
          return true;
      }
      return false;
    };
    await until(sent);
    await own.end('SIGKILL');
    await running;

    const next = await startServer({ home: own.home });
    const client2 = wireClient(next);
    const { results } = await client2.execute(session.id, [
      block('SendMessage', { to: 'ann', message: 'and the folders' }),
    ]);
    expect(textOf(results[0]?.content)).toContain('<message from="ben">\nben was here\n</message>');
    const again = await client2.execute(session.id, [block('SendMessage', { to: 'ben', message: 'again' })]);
    expect(textOf(again.results[0]?.content)).not.toContain('ben was here');
    const reading = scripted((request) => ({
      text:
        request.conversation.includes('count the files') && request.conversation.includes('and the folders')
          ? 'Both'
          : 'None',
    }));
    const ann = await client2.execute(session.id, [block('Agent', { description: 'a', prompt: reading, name: 'ann' })]);
    expect(textOf(ann.results[0]?.content)).toMatch(/^Both/);
    const killed = (await client2.frames(session.id)).filter(
      ({ type, tool_use_id }) => type === 'result' && tool_use_id === 'killed',
    );
    expect(killed).toMatchObject([{ call: { status: 'interrupted' } }]);
    const gone = await client2.execute(session.id, [block('TeamDelete', { name: 'crew' })]);
    expect(textOf(gone.results[0]?.content)).toContain('was deleted');
  });
});
