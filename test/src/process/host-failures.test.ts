/** Whatever breaks, the child, the host or the server, nothing hangs and nothing is left running. */
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { createProcessHost } from '../../../src/process/host-client.ts';
import { processesWith, run, testProcessHost, until } from '../../helpers/process-host.ts';

const markerOf = (ownerId: string) => `GAUNTLET_CALL_ID=${ownerId}.`;

describe('a process host that is killed', () => {
  const host = testProcessHost();

  it('takes its children along, and the next spawn starts another', async () => {
    let output = '';
    const shellScript = 'setsid sleep 60 & sleep 60 & echo "$PPID"; wait';
    const child = host.spawn({
      file: 'bash',
      args: [],
      cwd: '/',
      shellScript,
      onOutput: (_, chunk) => void (output += chunk),
    });
    await until(() => output.endsWith('\n'));
    process.kill(Number(output), 'SIGKILL');
    expect(await child.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
    await child.killTree();
    expect((await run(host, { shellScript: 'echo again' })).stdout).toBe('again\n');
    await until(
      () => processesWith(markerOf(host.ownerId)).every((pid) => pid > Number(output)) && sleepers(host.ownerId) === 0,
    );
  });
});

describe('a process host that cannot start', () => {
  it('says so to each spawn, with its last words as the cause', async () => {
    const host = createProcessHost({ limits: DEFAULT_LIMITS, ownerId: randomUUID(), hostEntry: '/no/such/host.js' });
    const error: unknown = await run(host, { shellScript: 'true' }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'tool_failed', message: 'Cannot start "bash": the process host ended (1)' });
    expect((error as Error & { cause: Error }).cause.cause).toContain('/no/such/host.js');
    await host.close();
  });
});

describe('a server that is killed', () => {
  it('leaves no process behind', async () => {
    const ownerId = randomUUID();
    const entry = new URL('../../fixtures/process-host-owner.ts', import.meta.url).pathname;
    const server = spawn(process.execPath, ['--import', 'tsx', entry, ownerId], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(server.stdout, 'data');
    expect(processesWith(markerOf(ownerId)).length).toBeGreaterThanOrEqual(3);
    server.kill('SIGKILL');
    await until(() => processesWith(markerOf(ownerId)).length === 0);
  });
});

describe('the sweep at start-up', () => {
  const host = testProcessHost();

  it('ends what a dead server of the same owner left, and nobody else’s', async () => {
    const orphan = (owner: string) =>
      spawn('sleep', ['60'], {
        detached: true,
        stdio: 'ignore',
        env: { ...process.env, GAUNTLET_CALL_ID: `${owner}.dead-1` },
      });
    const ours = orphan(host.ownerId);
    const theirs = orphan(`${host.ownerId}x`);
    const running = host.spawn({ file: 'sleep', args: ['60'], cwd: '/' });
    await running.started;
    const ended = once(ours, 'exit');
    expect(await host.sweepOrphans()).toBe(1);
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect([theirs.exitCode, theirs.signalCode]).toEqual([null, null]);
    theirs.kill('SIGKILL');
    await running.killTree();
    expect(await running.exited).toMatchObject({ signal: 'SIGTERM' });
  });
});

describe('a host without room', () => {
  const host = testProcessHost({ hostedChildren: 1, warmShells: 0 });

  it('refuses one child too many and takes the next', async () => {
    const first = host.spawn({ file: 'sleep', args: ['60'], cwd: '/' });
    await first.started;
    await expect(run(host, { shellScript: 'true' })).rejects.toMatchObject({ code: 'resource_exhausted' });
    await first.killTree();
    await first.exited;
    expect((await run(host, { shellScript: 'echo room' })).stdout).toBe('room\n');
  });

  it('without descriptors says that resources are exhausted, and recovers (F08)', async () => {
    const hostPid = (await run(host, { shellScript: 'echo $PPID' })).stdout.trim();
    const limit = (count: number) => execFileSync('prlimit', ['--pid', hostPid, `--nofile=${count}:4096`]);
    limit(8);
    await expect(run(host, { shellScript: 'true' })).rejects.toMatchObject({
      code: 'resource_exhausted',
      message: expect.stringContaining('EMFILE'),
    });
    limit(4_096);
    expect((await run(host, { shellScript: 'echo back' })).stdout).toBe('back\n');
  });
});

describe('a slow reader', () => {
  const host = testProcessHost();

  it('stops a fast writer and loses nothing', async () => {
    let received = 0;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const child = host.spawn({
      file: 'bash',
      args: [],
      cwd: '/',
      shellScript: 'head -c 5000000 /dev/zero; echo end >&2',
      onOutput: (stream, chunk) => {
        if (stream === 'stdout') received += chunk.length;
        return held;
      },
    });
    await until(() => received > 0);
    // The host answers in order: had it more to send, it would have come before this.
    await host.warm();
    expect(received).toBeLessThan(100_000);
    release();
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(received).toBe(5_000_000);
  });

  it('that fails ends the child it reads', async () => {
    const child = host.spawn({
      file: 'yes',
      args: [],
      cwd: '/',
      onOutput: () => Promise.reject(new Error('disk gone')),
    });
    expect(await child.exited).toMatchObject({ code: null, signal: 'SIGTERM' });
  });
});

describe('a closed host', () => {
  const host = testProcessHost();

  it('has ended everything and starts nothing more', async () => {
    const child = host.spawn({ file: 'sleep', args: ['60'], cwd: '/' });
    await child.started;
    await host.close();
    expect(processesWith(markerOf(host.ownerId))).toEqual([]);
    expect(await child.exited).toMatchObject({ code: null });
    expect(() => host.spawn({ file: 'true', args: [], cwd: '/' })).toThrow('the server is shutting down');
  });
});

function sleepers(ownerId: string): number {
  return processesWith(markerOf(ownerId)).filter((pid) =>
    execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }).includes('sleep'),
  ).length;
}
