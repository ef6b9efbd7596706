/** The package `@openai/agents` works with the tools of a session. */
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { beforeAll, expect, it } from 'vitest';
import { sdkScenario, type SdkScenario } from '../../test/helpers/sdk-scenario.ts';
import type { Client } from '../src/index.ts';
import { gauntletTools } from '../src/adapters/openai-agents.ts';

let scenario: SdkScenario;
beforeAll(async () => {
  setTracingDisabled(true);
  scenario = await sdkScenario();
});

/** The SDK writes `_` for `-`, and refuses ids that come again. */
const script = { rename: (name: string) => name.replaceAll('-', '_'), hasUniqueIds: true };

async function work(client: Client, signal?: AbortSignal) {
  const modelProvider = new OpenAIProvider({ baseURL: `${scenario.model.url}/v1`, apiKey: 'none', useResponses: true });
  const agent = new Agent({ name: 'Worker', model: 'scripted', tools: await gauntletTools(client, { tool }) });
  await new Runner({ modelProvider }).run(agent, 'Work', { signal });
}

it('a run works through all tools, also one whose name the SDK changes', async () => {
  await scenario.work(script, (client) => work(client));
});

it('an abort of a run cancels the calls', async () => {
  await scenario.abort(work, script);
});

it("the yes of the SDK's own person runs the call, and nobody is asked again", async () => {
  await scenario.ask(async (client) => {
    const modelProvider = new OpenAIProvider({
      baseURL: `${scenario.model.url}/v1`,
      apiKey: 'none',
      useResponses: true,
    });
    const tools = await gauntletTools(client, { tool }, { approvals: 'sdk' });
    const agent = new Agent({ name: 'Worker', model: 'scripted', tools });
    const runner = new Runner({ modelProvider });
    const first = await runner.run(agent, 'Work');
    expect(first.interruptions).toHaveLength(1);
    for (const interruption of first.interruptions) first.state.approve(interruption);
    await runner.run(agent, first.state);
  }, script);
});
