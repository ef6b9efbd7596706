/**
 * A loop over OpenAI Responses, with the tools of a Gauntlet session.
 *
 *   GAUNTLET_TOKEN=… OPENAI_API_KEY=… npx tsx client/examples/openai.ts "Summarise notes.md in summary.txt"
 */
import { connect } from '@gauntlet/client';
import OpenAI from 'openai';

const task = process.argv[2] ?? 'Summarise notes.md in summary.txt';
const client = await connect({
  url: process.env['GAUNTLET_URL'],
  token: process.env['GAUNTLET_TOKEN'] ?? '',
  session: { rules: { allow: ['Write'] } },
});
const tools = await client.tools('openai-responses');
const openai = new OpenAI();
const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: task }];
for (let isDone = false; !isDone;) {
  const { output, output_text } = await openai.responses.create({ model: 'gpt-5', tools, input });
  const { append } = await client.execute({ output });
  input.push(...(output as OpenAI.Responses.ResponseInput), ...append);
  isDone = append.length === 0;
  if (isDone) console.log(output_text);
}
