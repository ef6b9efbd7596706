/** LlamaIndex works with the tools of a session. */
import { openai } from '@llamaindex/openai';
import { agent } from '@llamaindex/workflow';
import { tool } from 'llamaindex';
import { beforeAll, expect, it } from 'vitest';
import { sdkScenario, type SdkScenario } from '../../test/helpers/sdk-scenario.ts';
import { gauntletTools } from '../src/adapters/llamaindex.ts';
import type { Client } from '../src/index.ts';

let scenario: SdkScenario;
beforeAll(async () => {
  scenario = await sdkScenario();
});

async function work(client: Client, signal?: AbortSignal) {
  const llm = openai({ model: 'gpt-4o', apiKey: 'none', baseURL: `${scenario.model.url}/v1`, maxRetries: 0 });
  await agent({ llm, tools: await gauntletTools(client, { tool }, { signal }) }).run('Work');
}

it('an agent works through all tools; it takes text alone from them', async () => {
  await scenario.work({ hasNoImages: true }, (client) => work(client));
  expect(scenario.model.requests.join()).toContain('[The image cannot be shown here]');
});

it('an abort cancels the calls', async () => {
  await scenario.abort(work);
});
