/** F08: a server that may open few descriptors keeps enough of them for its work. */
import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { readdirSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { watchHealth } from '../helpers/health.ts';
import { block, until, wireClient, type WireCall } from '../helpers/wire-client.ts';

const MAX_DESCRIPTORS = 80;
const RESERVED = 32;
const IDLE = 150;
/** What the server opens after it has counted: its process host, the reader of a file. */
const MADE_LATER = 8;
/** Looks that must find the same descriptors. */
const QUIET_LOOKS = 10;
const FLOOD = 'seq 1 2000000';
const FLOOD_CHARS = 14_888_896;

const idle = new Set<Socket>();
afterEach(() => {
  for (const socket of idle) socket.destroy();
  idle.clear();
});

/** Connections that say nothing; resolves when the server has taken or closed each. */
async function crowd({ url, pid }: BuiltServer): Promise<void> {
  let closed = 0;
  for (let count = 0; count < IDLE; count++) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined).on('close', () => (closed += 1));
    idle.add(socket);
  }
  await until(() => Promise.resolve(closed + openDescriptors(pid) > IDLE));
}

const openDescriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

/** The number that the next descriptor gets, once what was used before has been closed. */
async function nextDescriptor(pid: number): Promise<number> {
  let before = '';
  let quietLooks = 0;
  await until(() => {
    const now = readdirSync(`/proc/${pid}/fd`).join(' ');
    quietLooks = now === before ? quietLooks + 1 : 0;
    before = now;
    return Promise.resolve(quietLooks === QUIET_LOOKS);
  });
  const taken = new Set(before.split(' ').map(Number));
  let next = 0;
  while (taken.has(next)) next += 1;
  return next;
}

/** Change how many descriptors a running process may open. */
const limitDescriptors = (pid: number, count: number) =>
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${count}:${MAX_DESCRIPTORS}`]);

/** The process that starts the server's children. */
function processHostOf({ pid }: BuiltServer): number {
  return Number(execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }).trim());
}

describe('F08: a server with few descriptors', () => {
  let server: BuiltServer;
  let run: (command: string) => Promise<{ call: WireCall | undefined; text: string | undefined }>;

  beforeAll(async () => {
    server = await startServer({ descriptors: MAX_DESCRIPTORS, settings: { limits: { warmShells: 1 } } });
    const client = wireClient(server);
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    run = async (command) => {
      const { calls, results } = await client.execute(sessionId, [block('Bash', { command })]);
      return { call: calls[0], text: results[0]?.content };
    };
  });

  it('runs what it is asked while idle connections crowd it, and afterwards', async () => {
    const health = await watchHealth(server);
    await crowd(server);
    expect(openDescriptors(server.pid)).toBeLessThanOrEqual(MAX_DESCRIPTORS - RESERVED + MADE_LATER);
    expect((await run('echo hi')).call).toMatchObject({ status: 'ok' });
    expect((await run(FLOOD)).call).toMatchObject({ status: 'ok', spilled: { chars: FLOOD_CHARS } });
    for (const socket of idle) socket.destroy();
    expect((await run('echo again')).text).toBe('again');
    await health.assertHealthy();
  });

  it('says of a command it cannot start that resources are exhausted, and starts the next', async () => {
    const health = await watchHealth(server);
    const host = processHostOf(server);
    limitDescriptors(host, 4);
    // The shell that was started ahead is still there.
    expect((await run('echo 1')).text).toBe('1');
    const { call, text } = await run('echo never');
    expect(call).toMatchObject({ status: 'error', error_code: 'resource_exhausted' });
    expect(text).toContain('EMFILE');
    limitDescriptors(host, MAX_DESCRIPTORS);
    expect((await run('echo back')).text).toBe('back');
    await health.assertHealthy();
  });

  it('gives head and tail of an output it cannot write to a file', async () => {
    const health = await watchHealth(server);
    limitDescriptors(server.pid, await nextDescriptor(server.pid));
    const { call, text } = await run(FLOOD);
    limitDescriptors(server.pid, MAX_DESCRIPTORS);
    expect(call).toMatchObject({ status: 'ok' });
    expect(text).toContain('spill_failed: EMFILE');
    expect((await run(FLOOD)).call).toMatchObject({ status: 'ok', spilled: { chars: FLOOD_CHARS } });
    await health.assertHealthy();
  });
});
