/**
 * LangGraph, with the tools of a Gauntlet session.
 *
 *   GAUNTLET_TOKEN=… OPENAI_API_KEY=… npx tsx client/examples/langgraph.ts "Summarise notes.md in summary.txt"
 */
import { connect } from '@gauntlet/client';
import { gauntletTools } from '@gauntlet/client/langgraph';
import { ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';

const task = process.argv[2] ?? 'Summarise notes.md in summary.txt';
const client = await connect({
  url: process.env['GAUNTLET_URL'],
  token: process.env['GAUNTLET_TOKEN'] ?? '',
  session: { rules: { allow: ['Write'] } },
});
const tools = await gauntletTools(client, { tool, ToolMessage });
const agent = createReactAgent({ llm: new ChatOpenAI({ model: 'gpt-5', useResponsesApi: true }), tools });
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: task }] });
console.log(messages.at(-1)?.text);
