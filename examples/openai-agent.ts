/**
 * The same agent over the OpenAI Chat Completions API: only the names of things differ.
 *
 *   GAUNTLET_TOKEN=… OPENAI_API_KEY=… npx tsx examples/openai-agent.ts "Summarise notes.md in summary.txt"
 */
import OpenAI from 'openai';
import { gauntlet } from './gauntlet.ts';

type Message = OpenAI.ChatCompletionMessageParam;

const MAX_TURNS = 20;
const model = process.env['OPENAI_MODEL'] ?? 'gpt-5';
const task = process.argv[2] ?? 'Summarise notes.md in summary.txt';

const openai = new OpenAI();
const { tools } = await gauntlet<{ tools: OpenAI.ChatCompletionTool[] }>(
  'GET',
  '/tools?format=openai-chat&schemas=full',
);
const { session_id } = await gauntlet<{ session_id: string }>('POST', '/sessions', { rules: { allow: ['Write'] } });

const messages: Message[] = [{ role: 'user', content: task }];
for (let turn = 0; turn < MAX_TURNS; turn++) {
  const stream = openai.chat.completions.stream({ model, tools, messages });
  stream.on('content', (text) => process.stdout.write(text));
  const message = (await stream.finalChatCompletion()).choices[0]?.message;
  if (!message) break;
  messages.push(message);
  if (!message.tool_calls?.length) break;

  const reply = await gauntlet<{ messages: Message[]; calls: { name: string; status: string }[] }>('POST', '/execute', {
    session_id,
    tool_calls: message.tool_calls,
  });
  for (const { name, status } of reply.calls) process.stdout.write(`\n[${name}: ${status}]\n`);
  messages.push(...reply.messages);
}
process.stdout.write('\n');
