/**
 * Mastra, with the tools of a Gauntlet session.
 *
 *   GAUNTLET_TOKEN=… OPENAI_API_KEY=… npx tsx client/examples/mastra.ts "Summarise notes.md in summary.txt"
 */
import { connect } from '@gauntlet/client';
import { gauntletTools } from '@gauntlet/client/mastra';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';

const task = process.argv[2] ?? 'Summarise notes.md in summary.txt';
const client = await connect({
  url: process.env['GAUNTLET_URL'],
  token: process.env['GAUNTLET_TOKEN'] ?? '',
  session: { rules: { allow: ['Write'] } },
});
const tools = await gauntletTools(client, { createTool });
const url = process.env['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1';
const model = { id: 'openai/gpt-5', url, apiKey: process.env['OPENAI_API_KEY'] } as const;
const agent = new Agent({ name: 'worker', instructions: 'You work with files.', model, tools });
console.log((await agent.generate(task, { maxSteps: 20 })).text);
