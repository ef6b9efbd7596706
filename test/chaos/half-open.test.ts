/** F29: a client that is there no more, though its connection never said so. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../helpers/built-server.ts';
import { watchHealth } from '../helpers/health.ts';
import { block, wireClient } from '../helpers/wire-client.ts';

const LONGEST_MS = 45_000;
const LATE_MS = 2_000;
const CLIENT = `
const WebSocket = require(${JSON.stringify(createRequire(import.meta.url).resolve('ws'))});
const [url, token] = process.argv.slice(1);
const socket = new WebSocket(url, ['gauntlet.v1'], { headers: { authorization: 'Bearer ' + token } });
socket.on('open', () => socket.send(JSON.stringify({ type: 'hello' })));
socket.on('message', (text) => JSON.parse(text).type === 'live' && console.log('live'));
`;

it('a client whose process was stopped is let go within 45 s, and its session stays', async () => {
  const server = await startServer();
  const client = wireClient(server);
  const health = await watchHealth(server);
  const sessionId = await client.session({ mode: 'bypassPermissions' });
  const address = `${server.url.replace('http', 'ws')}/sessions/${sessionId}/stream`;
  const stopped = spawn(process.execPath, ['-e', CLIENT, address, server.token], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void stopped.kill('SIGKILL'));
  await once(stopped.stdout, 'data');
  stopped.kill('SIGSTOP');
  const stoppedMs = performance.now();
  // The connections of the test's own client end by themselves long before.
  await new Promise((resolve) => setTimeout(resolve, LONGEST_MS / 3));
  const open = readdirSync(`/proc/${server.pid}/fd`).length;
  while (readdirSync(`/proc/${server.pid}/fd`).length >= open) {
    if (performance.now() - stoppedMs > LONGEST_MS + LATE_MS) throw new Error('Its connection is still open');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { calls } = await client.execute(sessionId, [block('Bash', { command: 'echo still here' })]);
  expect(calls).toMatchObject([{ status: 'ok' }]);
  stopped.kill('SIGKILL');
  await health.assertHealthy();
}, 120_000);
