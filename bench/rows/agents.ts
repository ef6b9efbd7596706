/**
 * Agents beside the time that their model takes, and inner calls beside posted ones.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { httpClient } from '../clients.ts';
import { type Row, short } from '../row.ts';
import { type RunningServer, startOurs } from '../servers.ts';
import { newBlock, newSession } from '../sessions.ts';
import { inTurn, medianMs } from '../statistics.ts';

/** Five one-second calls in one message, streamed 0.4 s apart. */
const STREAMED = { calls: 5, gapMs: 400, durationMs: 1_000 } as const;

/** Agents side by side, with one call a message; the model takes half a second for each message. */
const SIDE_BY_SIDE = { agents: 20, calls: 10, messageMs: 500 } as const;

/** Calls of one measurement. */
const INNER_CALLS = 500;

/** One agent whose model streams, and twenty side by side. */
export async function agentRows(): Promise<readonly Row[]> {
  const model = await startModel();
  const models = { default: { provider: 'anthropic', baseUrl: model.url, model: 'scripted', apiKey: 'none' } };
  const ours = await startOurs(undefined, { models, permissions: { allow: ['Agent', 'Sleep', 'Noop'] } });
  try {
    const run = async (prompt: string, count: number) => {
      const client = httpClient(ours);
      const session_id = await newSession(ours);
      const tool_uses = Array.from({ length: count }, () => newBlock('Agent', { description: 'bench', prompt }));
      const { calls } = await client.send('POST', '/execute', { session_id, tool_uses });
      client.close();
      const failed = (calls as { status: string }[]).filter(({ status }) => status !== 'ok');
      if (failed.length > 0) throw new Error(`An agent failed: ${JSON.stringify(failed[0])}`);
    };
    // Loads the SDK.
    await run('one', 1);
    const streamedMs = await medianMs(2, () => run('streamed', 1));
    const sideBySideMs = await medianMs(3, () =>
      Promise.all(Array.from({ length: SIDE_BY_SIDE.agents }, () => run('many', 1))),
    );
    const criticalMs = STREAMED.calls * STREAMED.gapMs + STREAMED.durationMs;
    const modelMs = (SIDE_BY_SIDE.calls + 1) * SIDE_BY_SIDE.messageMs;
    return [
      ofPath('Agent: five 1-second calls streamed in 0.4 s apart, of the critical path', streamedMs / criticalMs, 1.05),
      ofPath('20 agents of 10 calls side by side, of the time of their model', sideBySideMs / modelMs, 1.15),
    ];
  } finally {
    await ours.stop();
    model.stop();
  }
}

/** A call that a tool makes, beside the same call posted. */
export async function innerCallRow(ours: RunningServer): Promise<Row> {
  const client = httpClient(ours);
  const session_id = await newSession(ours);
  const { ratio } = await inTurn(
    5,
    async () => {
      const tool_uses = [newBlock('Batch', { count: INNER_CALLS })];
      const { results } = await client.send('POST', '/execute', { session_id, tool_uses });
      return Number.parseFloat((results as { content: string }[])[0]?.content ?? '');
    },
    async () => {
      const begunMs = performance.now();
      for (let each = 0; each < INNER_CALLS; each++)
        await client.send('POST', '/execute', { session_id, tool_uses: [newBlock('Noop', {})] });
      return (performance.now() - begunMs) / INNER_CALLS;
    },
  );
  client.close();
  return ofPath('an inner call, of the same call posted', ratio, 1.2);
}

function ofPath(what: string, value: number, most: number): Row {
  return { what, toReach: `at most ${most}`, measured: short(value), isReached: value <= most };
}

/** A model on loopback that speaks the Messages API and does as the prompt says. */
async function startModel(): Promise<{ readonly url: string; stop(): void }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: readonly Message[] };
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      void reply(response, promptOf(messages), turn);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

interface Message {
  readonly role: string;
  readonly content: string | readonly { readonly text?: string }[];
}

function promptOf([first]: readonly Message[]): string {
  const content = first?.content ?? '';
  return typeof content === 'string' ? content : (content[0]?.text ?? '');
}

async function reply(response: ServerResponse, prompt: string, turn: number): Promise<void> {
  const send = (event: { readonly type: string; readonly [field: string]: unknown }) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const call = (index: number, name: string, input: object) => {
    const { id } = newBlock(name, {});
    send({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } });
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
    send({ type: 'content_block_delta', index, delta });
    send({ type: 'content_block_stop', index });
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg', type: 'message', role: 'assistant', model: 'scripted', content: [], usage };
  send({ type: 'message_start', message });
  const isLast = turn === (prompt === 'many' ? SIDE_BY_SIDE.calls : 1);
  if (prompt === 'many') await pause(SIDE_BY_SIDE.messageMs);
  if (isLast) {
    send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
    send({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Done' } });
    send({ type: 'content_block_stop', index: 0 });
  } else if (prompt === 'streamed') {
    for (let index = 0; index < STREAMED.calls; index++) {
      await pause(STREAMED.gapMs);
      call(index, 'Sleep', { duration_ms: STREAMED.durationMs });
    }
  } else call(0, 'Noop', {});
  const stop_reason = isLast ? 'end_turn' : 'tool_use';
  send({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } });
  send({ type: 'message_stop' });
  response.end();
}
