/** `npm start`: the server answers where its first line says, and ends with the npm that started it. */
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { longRunning } from '../helpers/long-running.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const surroundings = {
  cwd: join(import.meta.dirname, '../..'),
  env: { PATH: process.env['PATH'], HOME: temporaryFolder() },
};

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Resolves when nobody listens any more; a test's own time limit ends the wait. */
async function closed(port: number): Promise<void> {
  while (await isListening(port)) await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('npm start', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('ends the server when npm gets %s', async (signal) => {
    const npm = await longRunning(['npm', 'start', '--', '--port', '0'], /^Listening on .*\n/m, surroundings);
    onTestFinished(() => npm.stop());
    const port = Number(/^Listening on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(npm.printed)?.[1]);
    expect(await isListening(port)).toBe(true);
    npm.child.kill(signal);
    await npm.exited;
    await closed(port);
  });
});
