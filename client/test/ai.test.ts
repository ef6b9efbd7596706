/** The package `ai` works with the tools of a session, over Responses and over Chat Completions. */
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { beforeAll, expect, it } from 'vitest';
import { sdkScenario, type SdkScenario } from '../../test/helpers/sdk-scenario.ts';
import { gauntletTools, imagesAsMessages } from '../src/adapters/ai.ts';

let scenario: SdkScenario;
let openai: ReturnType<typeof createOpenAI>;
beforeAll(async () => {
  scenario = await sdkScenario();
  openai = createOpenAI({ baseURL: `${scenario.model.url}/v1`, apiKey: 'none' });
});

const stopWhen = stepCountIs(10);
const prompt = 'Work';

it('generateText works through all tools over Responses', async () => {
  await scenario.work({}, async (client) => {
    const tools = await gauntletTools(client, { tool, jsonSchema });
    await generateText({ model: openai.responses('scripted'), prompt, tools, stopWhen });
  });
});

it('generateText shows images over Chat Completions, in messages of the user', async () => {
  await scenario.work({}, async (client) => {
    const tools = await gauntletTools(client, { tool, jsonSchema });
    const prepareStep = imagesAsMessages;
    await generateText({ model: openai.chat('scripted'), prompt, tools, stopWhen, prepareStep });
  });
});

it('streamText works through all tools', async () => {
  await scenario.work({}, async (client) => {
    const tools = await gauntletTools(client, { tool, jsonSchema });
    await streamText({ model: openai.responses('scripted'), prompt, tools, stopWhen }).consumeStream();
  });
});

it('an abort of generateText cancels the calls', async () => {
  await scenario.abort(async (client, abortSignal) => {
    const tools = await gauntletTools(client, { tool, jsonSchema });
    await generateText({ model: openai.responses('scripted'), prompt, tools, stopWhen, abortSignal });
  });
});

it("the yes of the SDK's own person runs the call, and nobody is asked again", async () => {
  await scenario.ask(async (client) => {
    const tools = await gauntletTools(client, { tool, jsonSchema }, { approvals: 'sdk' });
    const model = openai.responses('scripted');
    const first = await generateText({ model, prompt, tools, stopWhen });
    const requests = first.content.filter((part) => part.type === 'tool-approval-request');
    expect(requests).toHaveLength(1);
    const content = requests.map(({ approvalId }) => ({
      type: 'tool-approval-response' as const,
      approvalId,
      approved: true,
    }));
    const messages = [{ role: 'user' as const, content: prompt }, ...first.response.messages];
    await generateText({ model, messages: [...messages, { role: 'tool', content }], tools, stopWhen });
  });
});
