/**
 * The package `ai`, with the tools of a Gauntlet session.
 *
 *   GAUNTLET_TOKEN=… OPENAI_API_KEY=… npx tsx client/examples/ai.ts "Summarise notes.md in summary.txt"
 */
import { openai } from '@ai-sdk/openai';
import { connect } from '@gauntlet/client';
import { gauntletTools } from '@gauntlet/client/ai';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';

const task = process.argv[2] ?? 'Summarise notes.md in summary.txt';
const client = await connect({
  url: process.env['GAUNTLET_URL'],
  token: process.env['GAUNTLET_TOKEN'] ?? '',
  session: { rules: { allow: ['Write'] } },
});
const tools = await gauntletTools(client, { tool, jsonSchema });
const { text } = await generateText({ model: openai('gpt-5'), prompt: task, tools, stopWhen: stepCountIs(20) });
console.log(text);
