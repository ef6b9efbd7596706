/**
 * The package `@google/genai`, with the tools of a Gauntlet session.
 *
 *   GAUNTLET_TOKEN=… GEMINI_API_KEY=… npx tsx client/examples/google-genai.ts "Summarise notes.md in summary.txt"
 */
import { connect } from '@gauntlet/client';
import { gauntletTool } from '@gauntlet/client/google-genai';
import { GoogleGenAI } from '@google/genai';

const task = process.argv[2] ?? 'Summarise notes.md in summary.txt';
const client = await connect({
  url: process.env['GAUNTLET_URL'],
  token: process.env['GAUNTLET_TOKEN'] ?? '',
  session: { rules: { allow: ['Write'] } },
});
const config = { tools: [gauntletTool(client)] };
const { text } = await new GoogleGenAI({}).models.generateContent({ model: 'gemini-3-pro', contents: task, config });
console.log(text);
