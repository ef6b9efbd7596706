/**
 * LlamaIndex, with the tools of a Gauntlet session.
 *
 *   GAUNTLET_TOKEN=… OPENAI_API_KEY=… npx tsx client/examples/llamaindex.ts "Summarise notes.md in summary.txt"
 */
import { connect } from '@gauntlet/client';
import { gauntletTools } from '@gauntlet/client/llamaindex';
import { openai } from '@llamaindex/openai';
import { agent } from '@llamaindex/workflow';
import { tool } from 'llamaindex';

const task = process.argv[2] ?? 'Summarise notes.md in summary.txt';
const client = await connect({
  url: process.env['GAUNTLET_URL'],
  token: process.env['GAUNTLET_TOKEN'] ?? '',
  session: { rules: { allow: ['Write'] } },
});
const tools = await gauntletTools(client, { tool });
const { data } = await agent({ llm: openai({ model: 'gpt-4o' }), tools }).run(task);
console.log(data.result);
