/** AskUserQuestion and plan mode, over the wire: what the model sends, what the person sees, and what comes of it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { block, until, wireClient, type WireBody, type WireClient, type WirePrompt } from '../helpers/wire-client.ts';

/** Two servers start in it. */
const TWO_STARTS = { timeout: 60_000 };

const question = (text = 'Which color?', more: object = {}) => ({
  question: text,
  header: 'Color',
  multiSelect: false,
  options: [
    { label: 'Red', description: 'Warm', preview: '<red>' },
    { label: 'Blue', description: 'Cold' },
  ],
  ...more,
});

/** A hook that allows the question and answers it. */
const HOOK_OUTPUT = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'allow',
    updatedInput: { questions: [question()], answers: { 'Which color?': 'by the hook' } },
  },
};
const HOOKS = {
  PreToolUse: [
    { matcher: 'AskUserQuestion', hooks: [{ type: 'command', command: `echo '${JSON.stringify(HOOK_OUTPUT)}'` }] },
  ],
};

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  server = await startServer();
  client = wireClient(server);
});

const promptOf = (session: string, at: WireClient = client): Promise<WirePrompt> =>
  until(async () => (await at.get(`/sessions/${session}/prompts`)).body.prompts[0]);

/** Run a call that asks, and answer it. */
async function answered(session: string, call: object, answer: object) {
  const waiting = client.execute(session, [call], { on_ask: 'wait' });
  const prompt = await promptOf(session);
  const { status, text } = await client.post(`/sessions/${session}/prompts/${prompt.request_id}`, answer);
  expect([status, text]).toMatchObject([200, expect.anything()]);
  return { prompt, ...first(await waiting) };
}

const first = ({ results, calls }: WireBody) => ({ content: results[0]?.content ?? '', call: calls[0] });
const run = async (session: string, name: string, input: object) =>
  first(await client.execute(session, [block(name, input)]));
const modeOf = async (session: string) => (await client.get(`/sessions/${session}/permissions`)).body['mode'];
const formOf = ({ display }: WirePrompt) =>
  (display as { blocks: { kind: string; key?: string; fields?: object[] }[] }).blocks.find(
    ({ kind }) => kind === 'form',
  );

describe('AskUserQuestion', () => {
  it('puts a form to the person, with "Other" beside the answers, and tells the model what was chosen', async () => {
    const session = await client.session();
    const questions = [question(), question('Which sizes?', { multiSelect: true, header: 'Sizes' })];
    const { prompt, content } = await answered(session, block('AskUserQuestion', { questions }), {
      behavior: 'allow',
      updated_input: { questions, answers: { 'Which color?': 'a dark green', 'Which sizes?': ['Red', 'Blue'] } },
    });
    expect(prompt).toMatchObject({ tool_name: 'AskUserQuestion', title: 'The model has 2 questions' });
    expect(formOf(prompt)).toMatchObject({
      key: 'answers',
      fields: [
        {
          name: 'Which color?',
          type: 'choice',
          other: true,
          multiple: false,
          choices: [{ value: 'Red', preview: '<red>' }, { value: 'Blue' }, { value: 'Other' }],
        },
        { name: 'Which sizes?', multiple: true },
      ],
    });
    expect(content).toBe('The person answered:\n- "Which color?": a dark green\n- "Which sizes?": Red, Blue');
  });

  it('takes no answers from the model, in any mode, and asks a person all the same', async () => {
    for (const mode of ['bypassPermissions', 'plan']) {
      const session = await client.session({ mode, rules: { allow: ['AskUserQuestion'] } });
      const call = block('AskUserQuestion', { questions: [question()], answers: { 'Which color?': 'Red' } });
      const { prompt, content } = await answered(session, call, { behavior: 'allow' });
      expect(prompt['input']).not.toHaveProperty('answers');
      expect(content).toContain('let the question pass without an answer');
    }
  });

  it('takes no answers from a hook', async () => {
    const hooked = await startServer({ settings: { hooks: HOOKS } });
    const at = wireClient(hooked);
    const session = await at.session();
    const asked = block('AskUserQuestion', { questions: [question()] });
    const { content, call } = first(await at.execute(session, [asked], { on_ask: 'deny' }));
    expect([content, call?.error_code]).toEqual([expect.stringContaining('has a question'), 'permission_denied']);
  });

  it('tells the model in which words the person did not answer', async () => {
    const { content, call } = await answered(
      await client.session(),
      block('AskUserQuestion', { questions: [question()] }),
      { behavior: 'deny', message: 'ask me tomorrow' },
    );
    expect([content, call?.error_code]).toEqual(['Denied by the user: ask me tomorrow', 'permission_denied']);
  });

  it('is denied where nobody can be asked, and names what is wrong with its input', async () => {
    const session = await client.session({ mode: 'dontAsk' });
    const denied = await run(session, 'AskUserQuestion', { questions: [question()] });
    expect(denied.call?.error_code).toBe('permission_denied');
    const { content } = await run(session, 'AskUserQuestion', {
      questions: [question('Same?', { header: 'Much too long a header' }), question('Same?', { options: [] })],
    });
    expect(content).toContain('`questions[0].header`');
    expect(content).toContain('`questions[1].options`');
    expect((await run(session, 'AskUserQuestion', { questions: [question(), question()] })).content).toContain(
      'each question must stand once',
    );
  });

  it('refuses an answer to a question that was not asked, by its text', async () => {
    const updated_input = { questions: [question()], answers: { 'Which colour?': 'Red' } };
    const { content } = await answered(await client.session(), block('AskUserQuestion', { questions: [question()] }), {
      behavior: 'allow',
      updated_input,
    });
    expect(content).toContain('names a question that was not asked: "Which colour?"');
  });

  it('stands across a kill, and its answer reaches the call', TWO_STARTS, async () => {
    const doomed = await startServer();
    const before = wireClient(doomed);
    const session = await before.session();
    const call = block('AskUserQuestion', { questions: [question()] });
    const waiting = before.execute(session, [call], { on_ask: 'wait' }).catch(() => undefined);
    const asked = await promptOf(session, before);
    await doomed.end('SIGKILL');
    await waiting;
    const at = wireClient(await startServer({ home: doomed.home }));
    expect(await promptOf(session, at)).toEqual(asked);
    const updated_input = { questions: [question()], answers: { 'Which color?': 'Blue' } };
    await at.post(`/sessions/${session}/prompts/${asked.request_id}`, { behavior: 'allow', updated_input });
    const result = await until(async () => (await at.frames(session)).find(({ type }) => type === 'result'));
    expect(result['tool_result']).toMatchObject({ content: 'The person answered:\n- "Which color?": Blue' });
  });
});

describe('plan mode', () => {
  const enter = (session: string) => run(session, 'EnterPlanMode', {});
  const write = (session: string, file: string) =>
    run(session, 'Write', { file_path: join(server.workspace, file), content: 'x' });

  it('is entered unasked, stops changes, and ends where the person accepts the plan', async () => {
    const session = await client.session({ mode: 'acceptEdits' });
    expect((await enter(session)).content).toContain('Plan mode is on: only reading is allowed');
    expect(await modeOf(session)).toBe('plan');
    expect((await write(session, 'early')).content).toContain('Leave plan mode first');
    const plan = { plan: '1. Write the file', allowedPrompts: [{ tool: 'Bash', prompt: 'run the tests' }] };
    const { prompt, content } = await answered(session, block('ExitPlanMode', plan), { behavior: 'allow' });
    expect(prompt['display']).toMatchObject({
      blocks: [
        { kind: 'text', text: '1. Write the file' },
        { kind: 'list', items: ['Bash: run the tests'] },
        { kind: 'form', key: 'review', fields: [{ name: 'plan' }, { name: 'mode', value: 'acceptEdits' }] },
      ],
    });
    expect(content).toBe('The person accepted the plan. Plan mode is off: begin with the work');
    expect(await modeOf(session)).toBe('acceptEdits');
    await write(session, 'late');
    expect(['early', 'late'].map((file) => existsSync(join(server.workspace, file)))).toEqual([false, true]);
  });

  it('gives the model the plan as the person changed it, and the mode that the person chose', async () => {
    const session = await client.session({ mode: 'acceptEdits' });
    await enter(session);
    const { content } = await answered(session, block('ExitPlanMode', { plan: 'Rewrite all' }), {
      behavior: 'allow',
      updated_input: { plan: 'Rewrite all', review: { plan: 'Rewrite one', mode: 'default' } },
    });
    expect(content).toBe(
      'The person changed the plan and accepted it. Plan mode is off: begin with the work, by this plan:\n\nRewrite one',
    );
    expect(await modeOf(session)).toBe('default');
  });

  it('takes a change of the plan itself too', async () => {
    const session = await client.session({ mode: 'plan' });
    const { content } = await answered(session, block('ExitPlanMode', { plan: 'Rewrite all' }), {
      behavior: 'allow',
      updated_input: { plan: 'Nothing' },
    });
    expect(content).toContain('by this plan:\n\nNothing');
    expect(await modeOf(session)).toBe('default');
  });

  it('stays on after a no, and the model hears why', async () => {
    const session = await client.session({ mode: 'plan' });
    const { content } = await answered(session, block('ExitPlanMode', { plan: 'Rewrite all' }), {
      behavior: 'deny',
      message: 'test it first',
    });
    expect(content).toBe('Denied by the user: test it first');
    expect(await modeOf(session)).toBe('plan');
  });

  it('is not left by a model that fills in the review, nor by one whose bypass is allowed', async () => {
    const session = await client.session({ mode: 'plan', rules: { allow: ['ExitPlanMode'] } });
    const call = block('ExitPlanMode', { plan: 'Mine', review: { mode: 'bypassPermissions' } });
    const { content, call: ended } = first(await client.execute(session, [call], { on_ask: 'deny' }));
    expect([content, ended?.error_code]).toEqual([expect.stringContaining('The plan is ready'), 'permission_denied']);
    expect(await modeOf(session)).toBe('plan');
  });

  it('keeps the mode that a person set with the answer', async () => {
    const session = await client.session({ mode: 'bypassPermissions' });
    await enter(session);
    await answered(session, block('ExitPlanMode', { plan: 'Mine' }), {
      behavior: 'allow',
      updated_permissions: [{ type: 'setMode', mode: 'default' }],
    });
    expect(await modeOf(session)).toBe('default');
  });

  it('cannot be left where it is not on', async () => {
    const session = await client.session();
    const { content } = await run(session, 'ExitPlanModeV2', { plan: 'x' });
    expect(content).toContain('Plan mode is not on');
  });

  it('goes back to the mode before it after a kill, too', TWO_STARTS, async () => {
    const doomed = await startServer();
    const before = wireClient(doomed);
    const session = await before.session({ mode: 'acceptEdits' });
    await before.execute(session, [block('EnterPlanMode', {})]);
    await doomed.end('SIGKILL');
    const at = wireClient(await startServer({ home: doomed.home }));
    const waiting = at.execute(session, [block('ExitPlanMode', { plan: 'x' })], { on_ask: 'wait' });
    const { request_id } = await promptOf(session, at);
    await at.post(`/sessions/${session}/prompts/${request_id}`, { behavior: 'allow' });
    await waiting;
    expect((await at.get(`/sessions/${session}/permissions`)).body['mode']).toBe('acceptEdits');
  });
});
