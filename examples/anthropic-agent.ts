/**
 * A complete agent: a model over the Anthropic Messages API, streaming, with Gauntlet as its hands.
 *
 *   GAUNTLET_TOKEN=… ANTHROPIC_API_KEY=… npx tsx examples/anthropic-agent.ts "Summarise notes.md in summary.txt"
 */
import Anthropic from '@anthropic-ai/sdk';
import { gauntlet } from './gauntlet.ts';

const MAX_TURNS = 20;
const model = process.env['ANTHROPIC_MODEL'] ?? 'claude-sonnet-5-5';
const task = process.argv[2] ?? 'Summarise notes.md in summary.txt';

const anthropic = new Anthropic();
// With every schema, so that the list can be passed to the model as it is.
const { tools } = await gauntlet<{ tools: Anthropic.Tool[] }>('GET', '/tools?schemas=full');
const { session_id } = await gauntlet<{ session_id: string }>('POST', '/sessions', { rules: { allow: ['Write'] } });

const messages: Anthropic.MessageParam[] = [{ role: 'user', content: task }];
for (let turn = 0; turn < MAX_TURNS; turn++) {
  const stream = anthropic.messages.stream({ model, max_tokens: 4_096, tools, messages });
  stream.on('text', (text) => process.stdout.write(text));
  const message = await stream.finalMessage();
  messages.push({ role: 'assistant', content: message.content });
  if (message.stop_reason !== 'tool_use') break;

  const reply = await gauntlet<{ message: Anthropic.MessageParam; calls: { name: string; status: string }[] }>(
    'POST',
    '/execute',
    { session_id, message: { role: 'assistant', content: message.content } },
  );
  for (const { name, status } of reply.calls) process.stdout.write(`\n[${name}: ${status}]\n`);
  messages.push(reply.message);
}
process.stdout.write('\n');
