/**
 * The tool runner of `@anthropic-ai/sdk`, with the tools of a Gauntlet session.
 *
 *   GAUNTLET_TOKEN=… ANTHROPIC_API_KEY=… npx tsx client/examples/anthropic.ts "Summarise notes.md in summary.txt"
 */
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { connect } from '@gauntlet/client';
import { gauntletTools } from '@gauntlet/client/anthropic';

const task = process.argv[2] ?? 'Summarise notes.md in summary.txt';
const client = await connect({
  url: process.env['GAUNTLET_URL'],
  token: process.env['GAUNTLET_TOKEN'] ?? '',
  session: { rules: { allow: ['Write'] } },
});
const tools = await gauntletTools(client, { betaTool, ToolError });
const model = process.env['ANTHROPIC_MODEL'] ?? 'claude-sonnet-5-5';
const messages: Anthropic.Beta.BetaMessageParam[] = [{ role: 'user', content: task }];
const { content } = await new Anthropic().beta.messages.toolRunner({ model, max_tokens: 4_096, messages, tools });
for (const block of content) if (block.type === 'text') console.log(block.text);
