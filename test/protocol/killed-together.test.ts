/** A server and its process host that are killed in the same moment leave nothing running. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { survivorsOf } from '../helpers/health.ts';
import { until } from '../helpers/process-host.ts';
import { block, wireClient } from '../helpers/wire-client.ts';

const MAX_MS = 5_000;
/** Private memory that the guardian may hold while it waits. */
const MAX_KIB = 3 * 1_024;

/** A grandchild in a session of its own, one in a group of its own, one that ignores signals, and one that forks on. */
const COMMAND = `
  setsid sleep 301 &
  setsid bash -c 'trap "" TERM HUP INT; (sleep 302; true) & echo ready >>ready; sleep 303' &
  (set -m; sleep 304 & true)
  setsid bash -c 'hop() { (sleep 0.02; hop) & exit; }; hop' &
`;

interface RunningHost {
  readonly server: BuiltServer;
  readonly hostPid: number;
  /** @throws {Error} Where there is none. */
  guardianPid(): number;
}

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
}

function childNamed(parent: number, word: string): number {
  const found = childrenOf(parent).find((pid) => commandOf(pid).includes(word));
  // Never 0: a signal to that would end the test itself.
  if (found === undefined) throw new Error(`Process ${parent} has no child "${word}"`);
  return found;
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
}

/** What a failed test left forks on: it is met again in the next round. */
function endSurvivors(server: BuiltServer): void {
  for (let pids = survivorsOf(server), round = 0; pids.length > 0 && round < 100; pids = survivorsOf(server), round++) {
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended since the look.
      }
    }
  }
}

/** A server whose calls run: one in the foreground, one in the background, each with grandchildren. */
async function busyServer(): Promise<RunningHost> {
  const server = await startServer();
  const client = wireClient(server);
  const sessionId = await client.session({ mode: 'bypassPermissions' });
  await client.execute(sessionId, [block('Bash', { command: `${COMMAND} sleep 305`, run_in_background: true })]);
  const stream = await client.stream(sessionId);
  stream.send({ type: 'tool_use', turn_id: 't', tool_use: block('Bash', { command: `${COMMAND} sleep 306` }) });
  const ready = join(server.workspace, 'ready');
  await until(() => existsSync(ready) && readFileSync(ready, 'utf8') === 'ready\nready\n');
  const hostPid = childNamed(server.pid, 'process-host');
  onTestFinished(() => {
    endSurvivors(server);
  });
  return { server, hostPid, guardianPid: () => childNamed(hostPid, 'gauntlet-guardian') };
}

/** Nobody may notice the other's end: both are stopped before the first is killed. */
async function killTogether({ server, hostPid }: RunningHost, hostTarget = hostPid): Promise<void> {
  process.kill(server.pid, 'SIGSTOP');
  process.kill(hostPid, 'SIGSTOP');
  process.kill(hostTarget, 'SIGKILL');
  await server.end('SIGKILL');
}

describe('a server and its process host that are killed together', () => {
  it('leave no command running, in whatever session it is, and no guardian', async () => {
    const busy = await busyServer();
    expect(survivorsOf(busy.server).length).toBeGreaterThan(8);
    const guardianPid = busy.guardianPid();
    await killTogether(busy);
    await until(() => survivorsOf(busy.server).length === 0, MAX_MS);
    await until(() => !isRunning(guardianPid), MAX_MS);
    expect(survivorsOf(busy.server)).toEqual([]);
  });

  it('leave none when the whole group of the host is killed', async () => {
    const busy = await busyServer();
    await killTogether(busy, -busy.hostPid);
    await until(() => survivorsOf(busy.server).length === 0, MAX_MS);
  });

  it('leave none when the guardian was killed before and its successor stands in', async () => {
    const busy = await busyServer();
    const killed = busy.guardianPid();
    process.kill(killed, 'SIGKILL');
    await until(() => !isRunning(killed), MAX_MS);
    const client = wireClient(busy.server);
    await client.execute(undefined, [block('Bash', { command: 'true' })]);
    await killTogether(busy);
    await until(() => survivorsOf(busy.server).length === 0, MAX_MS);
  });
});

describe('the guardian', () => {
  it('waits in a session of its own, without a marker, in little memory', async () => {
    const { server, ...host } = await busyServer();
    const guardianPid = host.guardianPid();
    expect(survivorsOf(server)).not.toContain(guardianPid);
    expect(readFileSync(`/proc/${guardianPid}/environ`, 'latin1')).not.toContain('GAUNTLET');
    const [, , , session] = readFileSync(`/proc/${guardianPid}/stat`, 'latin1')
      .replace(/^.*\) /, '')
      .split(' ');
    expect(Number(session)).toBe(guardianPid);
    const rollup = readFileSync(`/proc/${guardianPid}/smaps_rollup`, 'latin1');
    const privateKib = [...rollup.matchAll(/^Private_\w+:\s+(\d+) kB/gm)].reduce(
      (sum, [, kib]) => sum + Number(kib),
      0,
    );
    expect(privateKib).toBeLessThan(MAX_KIB);
  });

  it('is gone when the server has ended in order', async () => {
    const { server, ...host } = await busyServer();
    const guardianPid = host.guardianPid();
    expect(isRunning(guardianPid)).toBe(true);
    const client = wireClient(server);
    for (const { session_id: id } of (await client.get('/sessions')).body.sessions)
      await client.post(`/sessions/${id}/cancel`);
    await server.end();
    await until(() => !isRunning(guardianPid), MAX_MS);
    expect(survivorsOf(server)).toEqual([]);
  });
});
