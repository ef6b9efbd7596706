/**
 * A stand-in for a model that needs no key: it speaks the real streaming wires of the Anthropic Messages
 * API and of OpenAI Chat Completions on loopback, and always follows the same script.
 *
 *   npx tsx examples/scripted-model.ts        prints the two base URLs to set
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Call {
  readonly name: string;
  readonly input: object;
}

interface Step {
  readonly text: string;
  readonly calls: readonly Call[];
}

/** What it does in its first, second and last turn. @param seen Text of the results it was sent so far. */
function nextStep(turn: number, seen: readonly string[]): Step {
  if (turn === 0) {
    const calls = [
      { name: 'Glob', input: { pattern: '*.md' } },
      { name: 'Read', input: { file_path: 'notes.md' } },
    ];
    return { text: 'I will look at what is there.', calls };
  }
  if (turn === 1) {
    const lines = (seen[1] ?? '').split('\n').length;
    const content = `notes.md has ${lines} lines\n`;
    return {
      text: 'Now I write the summary.',
      calls: [{ name: 'Write', input: { file_path: 'summary.txt', content } }],
    };
  }
  return { text: `Done after ${seen.length} results.`, calls: [] };
}

interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly type: string; readonly content?: unknown }[];
}

/** Turns so far, and the text of every result, whichever wire it came over. */
function readTranscript(messages: readonly ChatMessage[]): { turn: number; seen: string[] } {
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const seen = messages.flatMap(({ role, content }) => {
    if (role === 'tool') return [String(content)];
    if (typeof content === 'string' || !content) return [];
    return content.flatMap((block) => (block.type === 'tool_result' ? [String(block.content)] : []));
  });
  return { turn, seen };
}

/** Cut in pieces, as a model's JSON streams in. */
function pieces(text: string): readonly string[] {
  return text.match(/.{1,7}/gs) ?? [];
}

function sendAnthropic(response: ServerResponse, { text, calls }: Step, turn: number): void {
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: `msg_${turn}`, type: 'message', role: 'assistant', model: 'scripted', content: [], usage };
  send('message_start', { message: { ...message, stop_reason: null, stop_sequence: null } });
  send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
  for (const piece of pieces(text))
    send('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } });
  send('content_block_stop', { index: 0 });
  calls.forEach(({ name, input }, place) => {
    const index = place + 1;
    const content_block = { type: 'tool_use', id: `toolu_${turn}_${place}`, name, input: {} };
    send('content_block_start', { index, content_block });
    for (const partial_json of pieces(JSON.stringify(input)))
      send('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } });
    send('content_block_stop', { index });
  });
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage });
  send('message_stop', {});
  response.end();
}

function sendOpenAI(response: ServerResponse, { text, calls }: Step, turn: number): void {
  const send = (delta: object, finish_reason: string | null = null) => {
    const chunk = { id: `chat_${turn}`, object: 'chat.completion.chunk', created: 0, model: 'scripted' };
    response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  };
  send({ role: 'assistant', content: '' });
  for (const content of pieces(text)) send({ content });
  calls.forEach(({ name, input }, index) => {
    const id = `call_${turn}_${index}`;
    send({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    for (const piece of pieces(JSON.stringify(input)))
      send({ tool_calls: [{ index, function: { arguments: piece } }] });
  });
  send({}, calls.length > 0 ? 'tool_calls' : 'stop');
  response.end('data: [DONE]\n\n');
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: ChatMessage[] };
    const { turn, seen } = readTranscript(messages);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = request.url?.startsWith('/v1/messages') ? sendAnthropic : sendOpenAI;
    send(response, nextStep(turn, seen), turn);
  });
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`ANTHROPIC_BASE_URL=http://127.0.0.1:${port}\n`);
  process.stdout.write(`OPENAI_BASE_URL=http://127.0.0.1:${port}/v1\n`);
});
