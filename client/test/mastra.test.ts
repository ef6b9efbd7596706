/** Mastra works with the tools of a session. */
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { beforeAll, it } from 'vitest';
import { sdkScenario, type SdkScenario } from '../../test/helpers/sdk-scenario.ts';
import { gauntletTools } from '../src/adapters/mastra.ts';
import type { Client } from '../src/index.ts';

let scenario: SdkScenario;
beforeAll(async () => {
  scenario = await sdkScenario();
});

async function work(client: Client, abortSignal?: AbortSignal) {
  const model = { id: 'custom/scripted', url: `${scenario.model.url}/v1`, apiKey: 'none' } as const;
  const tools = await gauntletTools(client, { createTool });
  const agent = new Agent({ name: 'worker', instructions: 'Work.', model, tools });
  await agent.generate('Work', { maxSteps: 10, abortSignal });
}

it('an agent works through all tools; it takes text alone from them', async () => {
  await scenario.work({ hasNoImages: true }, (client) => work(client));
});

it('an abort of an agent cancels the calls', async () => {
  await scenario.abort(work);
});
