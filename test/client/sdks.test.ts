/** The SDKs of Anthropic and OpenAI work with the tools of a session, in every way that they have. */
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import OpenAI from 'openai';
import { WebSocket } from 'ws';
import { beforeAll, describe, expect, it } from 'vitest';
import { gauntletTools as anthropicTools } from '../../client/src/adapters/anthropic.ts';
import { gauntletTools as openaiTools } from '../../client/src/adapters/openai.ts';
import type { Client } from '../../client/src/index.ts';
import { sdkScenario, type SdkScenario } from '../helpers/sdk-scenario.ts';

const base = { model: 'scripted', max_tokens: 1_000 };
let scenario: SdkScenario;
let anthropic: Anthropic;
let openai: OpenAI;
beforeAll(async () => {
  scenario = await sdkScenario({ WebSocket });
  anthropic = new Anthropic({ baseURL: scenario.model.url, apiKey: 'none', maxRetries: 0 });
  openai = new OpenAI({ baseURL: `${scenario.model.url}/v1`, apiKey: 'none', maxRetries: 0 });
});

describe('@anthropic-ai/sdk', () => {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Work' }];

  async function runner(client: Client, signal?: AbortSignal) {
    const tools = await anthropicTools(client, { betaTool, ToolError });
    await anthropic.beta.messages.toolRunner({ ...base, messages: messages as never, tools }, { signal });
  }

  it('the tool runner works through all tools', async () => {
    await scenario.work({}, (client) => runner(client));
  });

  it('an abort of the tool runner cancels the calls', async () => {
    await scenario.abort(runner);
  });

  it('a loop of streams works through all tools, which start while the model writes', async () => {
    await scenario.work({}, async (client) => {
      const conversation = [...messages];
      const tools = await client.tools();
      for (let isDone = false; !isDone;) {
        const stream = anthropic.messages.stream({ ...base, tools, messages: conversation });
        const { append } = await client.forward(stream).reply();
        const { role, content } = await stream.finalMessage();
        conversation.push({ role, content }, ...append);
        isDone = append.length === 0;
      }
    });
  });
});

describe('openai', () => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Work' }];

  it('a loop over Chat Completions works through all tools, and shows images', async () => {
    await scenario.work({}, async (client) => {
      const conversation = [...messages];
      const tools = await client.tools('openai-chat');
      for (let isDone = false; !isDone;) {
        const { choices } = await openai.chat.completions.create({ model: 'scripted', tools, messages: conversation });
        const message = choices[0]?.message;
        if (!message) throw new Error('No message');
        const { append } = await client.execute({ tool_calls: message.tool_calls });
        conversation.push(message, ...append);
        isDone = append.length === 0;
      }
    });
  });

  it('a loop of streams over Chat Completions works through all tools', async () => {
    await scenario.work({}, async (client) => {
      const conversation = [...messages];
      const tools = await client.tools('openai-chat');
      for (let isDone = false; !isDone;) {
        const stream = openai.chat.completions.stream({ model: 'scripted', tools, messages: conversation });
        const { append } = await client.forward(stream).reply();
        conversation.push(await stream.finalMessage(), ...append);
        isDone = append.length === 0;
      }
    });
  });

  async function responses(client: Client, signal?: AbortSignal) {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Work' }];
    const tools = await client.tools('openai-responses');
    for (let isDone = false; !isDone;) {
      const { output } = await openai.responses.create({ model: 'scripted', tools, input });
      const { append } = await client.execute({ output }, { signal });
      input.push(...(output as OpenAI.Responses.ResponseInput), ...append);
      isDone = append.length === 0;
    }
  }

  it('a loop over Responses works through all tools', async () => {
    await scenario.work({}, (client) => responses(client));
  });

  it('an abort of a loop cancels the calls', async () => {
    await scenario.abort(responses);
  });

  it('a loop of streams over Responses works through all tools', async () => {
    await scenario.work({}, async (client) => {
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Work' }];
      const tools = await client.tools('openai-responses');
      for (let isDone = false; !isDone;) {
        const stream = await openai.responses.create({ model: 'scripted', tools, input, stream: true });
        const turn = client.forward(stream);
        for await (const event of turn) {
          if (event.type === 'response.output_item.done') input.push(event.item as OpenAI.Responses.ResponseInputItem);
        }
        const { append } = await turn.reply();
        input.push(...append);
        isDone = append.length === 0;
      }
    });
  });

  async function runTools(client: Client, signal?: AbortSignal) {
    const tools = await openaiTools(client);
    const runner = openai.chat.completions.runTools({ model: 'scripted', messages, tools }, { signal });
    await runner.done();
  }

  it('runTools works through all tools; it takes text alone from them', async () => {
    await scenario.work({ hasNoImages: true }, (client) => runTools(client));
    expect(scenario.model.requests.at(-1)).toContain('[The image cannot be shown here]');
  });

  it('an abort of runTools cancels the calls', async () => {
    await scenario.abort(runTools);
  });
});
