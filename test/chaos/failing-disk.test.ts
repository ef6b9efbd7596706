/** F04: whichever operation on the disk fails, once or for good, calls end typed and the log stays in order. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { watchHealth } from '../helpers/health.ts';
import { block, until, wireClient, type WireClient, type WireReply } from '../helpers/wire-client.ts';

const SHIM = new URL('../fixtures/failing-disk.mjs', import.meta.url).pathname;
/** More operations than the work below has. */
const MAX_OPERATIONS = 300;
/** How long a disk that fails for good stays so. */
const FAILING_MS = 1_000;
const TYPED = ['log_unavailable', 'overloaded', 'not_found', 'gone'];

interface Plan {
  readonly at: number;
  readonly code: string;
  readonly persists: boolean;
}

/** A server over a disk that fails as planned. */
async function serverOverFailingDisk() {
  const home = serverHome();
  const planFile = join(home, 'plan');
  const environment = { NODE_OPTIONS: `--import=${SHIM}`, FAULT_PLAN: planFile };
  const server = await startServer({ home, environment });
  let id = 0;
  /** @returns Operations since the plan before. */
  async function take(plan: Plan): Promise<number> {
    id += 1;
    writeFileSync(planFile, JSON.stringify({ id, ...plan }));
    process.kill(server.pid, 'SIGWINCH');
    const taken = () => JSON.parse(readFileSync(`${planFile}.taken`, 'utf8')) as { id: number; count: number };
    await until(() => Promise.resolve(existsSync(`${planFile}.taken`) && taken().id === id));
    return taken().count;
  }
  return { server, take, heal: () => take({ at: 0, code: 'EIO', persists: false }) };
}

/** A session made, a command, a spilled result, a background task, its deletion: every answer as it came. */
async function work(client: WireClient): Promise<readonly WireReply[]> {
  const replies = [await client.post('/sessions', { mode: 'bypassPermissions' })];
  if (replies[0]?.status !== 201) return replies;
  const { session_id } = replies[0].body;
  const tool_uses = [
    block('Bash', { command: 'cd /; echo one' }),
    block('Bash', { command: 'seq 1 20000' }),
    block('Bash', { command: 'echo two', run_in_background: true }),
  ];
  replies.push(await client.post('/execute', { session_id, tool_uses }));
  replies.push(await client.get(`/sessions/${session_id}/events`));
  replies.push(await client.send('DELETE', `/sessions/${session_id}`));
  return replies;
}

function expectTyped(replies: readonly WireReply[], server: BuiltServer): void {
  for (const reply of replies) {
    if (reply.status < 300) continue;
    expect(TYPED, `${reply.text} ${server.logged().slice(-2_000)}`).toContain(reply.body.error.code);
  }
  expect(server.logged()).not.toMatch(/nobody (caught|handled)/);
}

it.each([
  ['ENOSPC', false],
  ['EIO', false],
  ['EMFILE', false],
  ['ENOSPC', true],
  ['EIO', true],
  ['EMFILE', true],
] as const)(
  '%s, for good: %s',
  async (code, persists) => {
    const { server, take, heal } = await serverOverFailingDisk();
    const client = wireClient(server);
    const health = await watchHealth(server);
    await heal();
    for (let at = 1; at <= MAX_OPERATIONS; at++) {
      await take({ at, code, persists });
      const working = work(client);
      await Promise.race([working, new Promise((resolve) => setTimeout(resolve, FAILING_MS))]);
      const count = await heal();
      expectTyped(await working, server);
      if (count < at) return health.assertHealthy();
    }
    throw new Error('There was always one more operation');
  },
  10 * 60_000,
);
