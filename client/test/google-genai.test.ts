/** The package `@google/genai` works with the tools of a session. */
import { GoogleGenAI } from '@google/genai';
import { beforeAll, it } from 'vitest';
import { sdkScenario, type SdkScenario } from '../../test/helpers/sdk-scenario.ts';
import type { Client } from '../src/index.ts';
import { gauntletTool } from '../src/adapters/google-genai.ts';

let scenario: SdkScenario;
beforeAll(async () => {
  scenario = await sdkScenario();
});

async function work(client: Client, signal?: AbortSignal) {
  const ai = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: scenario.model.url } });
  const tools = [gauntletTool(client, { signal })];
  await ai.models.generateContent({ model: 'scripted', contents: 'Work', config: { tools } });
}

it('generateContent works through all tools', async () => {
  await scenario.work({}, (client) => work(client));
});

it('an abort cancels the calls', async () => {
  await scenario.abort(work);
});
