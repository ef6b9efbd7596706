/** LangGraph works with the tools of a session, over Responses and over Chat Completions. */
import { ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { beforeAll, it } from 'vitest';
import { sdkScenario, type SdkScenario } from '../../test/helpers/sdk-scenario.ts';
import { gauntletTools, imagesAsMessages } from '../src/adapters/langgraph.ts';
import type { Client } from '../src/index.ts';

let scenario: SdkScenario;
beforeAll(async () => {
  scenario = await sdkScenario();
});

/** A graph runs no call whose id has a result already. */
const script = { hasUniqueIds: true };

const work =
  (options: { useResponsesApi: boolean; preModelHook?: typeof imagesAsMessages }) =>
  async (client: Client, signal?: AbortSignal) => {
    const configuration = { baseURL: `${scenario.model.url}/v1` };
    const { useResponsesApi, preModelHook } = options;
    const llm = new ChatOpenAI({ model: 'scripted', apiKey: 'none', configuration, useResponsesApi, maxRetries: 0 });
    const tools = await gauntletTools(client, { tool, ToolMessage });
    const agent = createReactAgent({ llm, tools, preModelHook: preModelHook as never });
    await agent.invoke({ messages: [{ role: 'user', content: 'Work' }] }, { signal });
  };

it('an agent works through all tools over Responses', async () => {
  await scenario.work(script, work({ useResponsesApi: true }));
});

it('an agent is shown images over Chat Completions, in messages of the user', async () => {
  await scenario.work(script, work({ useResponsesApi: false, preModelHook: imagesAsMessages }));
});

it('an abort of an agent cancels the calls', async () => {
  await scenario.abort(work({ useResponsesApi: true }));
});
