/** `npm start`: the server answers where its first line says, and ends with the npm that started it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const home = temporaryFolder();
let npm: ChildProcess;

afterEach(() => {
  npm.kill('SIGKILL');
});

/** Start it. @returns The port it listens on. */
async function npmStart(): Promise<number> {
  npm = spawn('npm', ['start', '--', '--port', '0'], {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: home },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (!npm.stdout) throw new Error('npm has no standard output');
  for await (const line of createInterface({ input: npm.stdout })) {
    const match = /^Listening on http:\/\/127\.0\.0\.1:(\d+)$/.exec(line);
    if (match) return Number(match[1]);
  }
  throw new Error('The server ended before it listened');
}

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
    const port = await npmStart();
    expect(await isListening(port)).toBe(true);
    const exited = new Promise((resolve) => npm.once('exit', resolve));
    npm.kill(signal);
    await exited;
    await closed(port);
  });
});
