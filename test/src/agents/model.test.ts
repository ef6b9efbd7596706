/** A model of the settings, over the real wires. */
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import type { ModelSettings } from '../../../config/settings/models.ts';
import type { ConversationMessage, ModelCall } from '../../../src/agents/conversation.ts';
import { type ModelBounds, openModel } from '../../../src/agents/model.ts';
import { type ScriptedStep, scriptedModel, type SeenRequest } from '../../helpers/scripted-model.ts';

const PROVIDERS = ['anthropic', 'openai'] as const;
const TOOL = { name: 'Look', description: 'Looks', inputSchema: { type: 'object', properties: {} } };
const HELLO: ConversationMessage = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };

/** Ask a model that answers with `steps`, one a request; the last one again and again. */
async function ask(
  provider: (typeof PROVIDERS)[number],
  steps: readonly ScriptedStep[],
  {
    messages = [HELLO],
    bounds = { silenceMs: 5_000, replyChars: 100_000 },
    ...more
  }: {
    messages?: readonly ConversationMessage[];
    bounds?: ModelBounds;
    apiKey?: string | undefined;
  } = {},
) {
  let asked = 0;
  const server = await scriptedModel(() => steps[Math.min(asked++, steps.length - 1)] ?? {});
  const settings = { ...server.settings(provider), ...more } as ModelSettings;
  const calls: (ModelCall & { readonly atMs: number })[] = [];
  const begun = performance.now();
  const model = openModel('default', settings, DEFAULT_LIMITS, bounds);
  const request = { system: 'Be brief', tools: [TOOL], messages };
  const listener = {
    signal: AbortSignal.timeout(15_000),
    onText: () => undefined,
    onCall: (call: ModelCall) => void calls.push({ ...call, atMs: performance.now() - begun }),
  };
  const outcome = await model.reply(request, listener).then(
    (reply) => ({ reply, failure: '' }),
    (error: unknown) => ({ reply: undefined, failure: (error as Error).message }),
  );
  return { ...outcome, calls, requests: server.requests, ms: performance.now() - begun };
}

const firstOf = ([first]: readonly SeenRequest[]) => {
  if (!first) throw new Error('Nothing was asked');
  return first;
};

describe.each(PROVIDERS)('a model over the wire of %s', (provider) => {
  it('is sent the key, the system prompt and the tools, and answers with text and tokens', async () => {
    const { reply, requests } = await ask(provider, [{ text: 'Good morning', usage: { input: 7, output: 3 } }]);
    expect(reply).toMatchObject({ stop: 'end', usage: { inputTokens: 7, outputTokens: 3 } });
    expect(reply?.content).toEqual([{ type: 'text', text: 'Good morning' }]);
    const { headers, system, toolNames, prompt, body } = firstOf(requests);
    expect({ system, toolNames, prompt, model: body.model }).toEqual({
      ...{ system: 'Be brief', toolNames: ['Look'], prompt: 'Hello', model: 'scripted' },
    });
    expect(headers['x-api-key'] ?? headers.authorization).toMatch(/^(Bearer )?canary-model-key$/);
  });

  it('tells of each call while the message still streams in', async () => {
    const calls = [
      { name: 'Look', input: { at: 'one' } },
      { name: 'Look', input: { at: 'two' }, delayMs: 400 },
      { name: 'Look', input: { at: 'three' }, delayMs: 400 },
    ];
    const { calls: told, reply, ms } = await ask(provider, [{ text: 'Let me see', calls }]);
    expect(told.map(({ input }) => input)).toEqual([{ at: 'one' }, { at: 'two' }, { at: 'three' }]);
    expect(ms - (told[0]?.atMs ?? ms)).toBeGreaterThan(350);
    expect(reply).toMatchObject({ stop: 'calls', content: [{ type: 'text' }, ...calls.map(({ name }) => ({ name }))] });
  });

  it('is handed results, errors and images back in the shapes of its wire', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } } as const;
    const messages: readonly ConversationMessage[] = [
      HELLO,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Look', input: 'no object' }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'seen' }, image], is_error: true },
          { type: 'text', text: 'Go on' },
        ],
      },
    ];
    const { reply, requests } = await ask(provider, [{ text: 'Done' }], { messages });
    expect(reply).toBeDefined();
    const { conversation, results } = firstOf(requests);
    expect(results[0]).toContain('seen');
    for (const part of ['no object', 'aGk=', 'image/png', 'Go on']) expect(conversation).toContain(part);
  });

  it('keeps an input that is no JSON as text, for the tool to refuse', async () => {
    const { calls } = await ask(provider, [{ calls: [{ name: 'Look', input: '{"at": oops' }] }]);
    expect(calls).toMatchObject([{ name: 'Look', input: '{"at": oops' }]);
  });

  it('that refuses says why, without the key', async () => {
    const { failure, requests } = await ask(provider, [{ status: 401, text: 'The key canary-model-key is wrong' }]);
    expect(failure).toMatch(/^Cannot get a message from model "default" \((anthropic|openai)\): 401 /);
    expect(failure).not.toContain('canary-model-key');
    expect(requests).toHaveLength(1);
  });

  it('does not take the key to another address', async () => {
    const elsewhere = await scriptedModel(() => ({ text: 'Caught' }));
    const { failure } = await ask(provider, [{ location: `${elsewhere.url}/v1/messages` }]);
    expect(failure).toContain('Cannot get a message');
    expect(elsewhere.requests).toEqual([]);
  });

  it('is asked again where its message broke off before any call', async () => {
    const { reply, requests } = await ask(provider, [{ text: 'Half', ending: 'break' }, { text: 'Whole' }]);
    expect(reply?.content).toEqual([{ type: 'text', text: 'Whole' }]);
    expect(requests).toHaveLength(2);
  });

  it('is not asked again for calls that run: what came of its message counts', async () => {
    const calls = ['one', 'two'].map((at) => ({ name: 'Look', input: { at } }));
    const { reply, calls: told, requests } = await ask(provider, [{ calls, ending: 'break' }]);
    expect(reply).toMatchObject({ stop: 'calls' });
    // Chat Completions says that a call is complete when the next one begins.
    expect(told.length).toBe(provider === 'anthropic' ? 2 : 1);
    expect(requests).toHaveLength(1);
  });

  it('that falls silent is given up', async () => {
    const { failure } = await ask(provider, [{ text: 'Well', ending: 'hang' }], {
      bounds: { silenceMs: 150, replyChars: 100_000 },
    });
    expect(failure).toContain('it sent nothing for 150 ms');
  });

  it('that writes without end is cut off', async () => {
    const bounds = { silenceMs: 5_000, replyChars: 1_000 };
    const { failure, requests } = await ask(provider, [{ text: 'x'.repeat(5_000) }], { bounds });
    expect(failure).toContain('more than 1000 characters');
    expect(requests).toHaveLength(1);
  });

  it('without a key of its own gets none from the environment', async () => {
    const names = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OPENAI_API_KEY', 'OPENAI_ORG_ID', 'OPENAI_PROJECT_ID'];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = 'canary-of-the-environment';
    try {
      const { requests, reply } = await ask(provider, [{ text: 'Yes' }], { apiKey: undefined });
      expect(reply).toBeDefined();
      const { headers } = firstOf(requests);
      expect(JSON.stringify(headers)).not.toContain('canary-of-the-environment');
      expect([headers['x-api-key'], headers.authorization]).toEqual([undefined, undefined]);
    } finally {
      names.forEach((name, place) => {
        if (before[place] === undefined) delete process.env[name];
        else process.env[name] = before[place];
      });
    }
  });
});

it('shows OpenAI no more tools and words than its API takes', async () => {
  const server = await scriptedModel(() => ({ text: 'Yes' }));
  const model = openModel('default', server.settings('openai') as ModelSettings, DEFAULT_LIMITS);
  const many = Array.from({ length: 200 }, (_, place) => ({
    ...TOOL,
    name: `T${place}`,
    description: 'x'.repeat(5_000),
  }));
  const tools = [{ ...TOOL, name: 'L'.repeat(65) }, ...many];
  const listener = { signal: AbortSignal.timeout(10_000), onText: () => undefined, onCall: () => undefined };
  await model.reply({ system: 's', tools, messages: [HELLO] }, listener);
  const sent = firstOf(server.requests).body['tools'] as readonly { function: { name: string; description: string } }[];
  expect(sent).toHaveLength(128);
  expect(sent[0]?.function).toMatchObject({ name: 'T0', description: 'x'.repeat(1_024) });
});
