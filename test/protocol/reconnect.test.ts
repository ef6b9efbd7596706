/** Clients that all come back at once, as browsers do when a server was restarted. */
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { startServer } from '../helpers/built-server.ts';
import { wireClient } from '../helpers/wire-client.ts';

const CLIENTS = 1_000;
/** Connected before the test's own event loop sends the first request of them. */
const SENT_AT_ONCE = 50;

/** Open a WebSocket and read its first frame. @returns The frame's type, or how the attempt failed. */
function firstFrame(socket: WebSocket): Promise<string> {
  socket.once('open', () => socket.send(JSON.stringify({ type: 'hello', protocol: 1 })));
  return new Promise((resolve) => {
    socket.once('message', (data) => resolve((JSON.parse(String(data)) as { type: string }).type));
    socket.once('error', (error) => resolve(error.message));
    socket.once('close', (code) => resolve(`closed with ${code}`));
  });
}

it('a thousand WebSockets that connect at once all come in', async () => {
  const server = await startServer();
  const client = wireClient(server);
  const sessionId = await client.session();
  const address = `${server.url.replace('http', 'ws')}/sessions/${sessionId}/stream`;
  const headers = { authorization: `Bearer ${server.token}` };
  const sockets: WebSocket[] = [];
  onTestFinished(() => sockets.forEach((socket) => socket.terminate()));
  const attempts: Promise<string>[] = [];
  while (sockets.length < CLIENTS) {
    const socket = new WebSocket(address, ['gauntlet.v1'], { headers });
    sockets.push(socket);
    attempts.push(firstFrame(socket));
    // As a thousand browsers do, each sends its credential as soon as it is connected.
    if (sockets.length % SENT_AT_ONCE === 0) await setImmediate();
  }
  const outcomes = await Promise.all(attempts);
  const counts = new Map<string, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  expect(Object.fromEntries(counts)).toEqual({ welcome: CLIENTS });
}, 60_000);
