/**
 * The package `@openai/agents`, with the tools of a Gauntlet session.
 *
 *   GAUNTLET_TOKEN=… OPENAI_API_KEY=… npx tsx client/examples/openai-agents.ts "Summarise notes.md in summary.txt"
 */
import { connect } from '@gauntlet/client';
import { gauntletTools } from '@gauntlet/client/openai-agents';
import { Agent, run, tool } from '@openai/agents';

const task = process.argv[2] ?? 'Summarise notes.md in summary.txt';
const client = await connect({
  url: process.env['GAUNTLET_URL'],
  token: process.env['GAUNTLET_TOKEN'] ?? '',
  session: { rules: { allow: ['Write'] } },
});
const tools = await gauntletTools(client, { tool });
const { finalOutput } = await run(new Agent({ name: 'Worker', model: 'gpt-5', tools }), task);
console.log(finalOutput);
