/** O3: what floods, slow readers and many sessions took is given back when they are over. */
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { COLLECTING, heldMiB } from '../helpers/held-memory.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const MAX_MIB = 20;
const NOTE = 'x'.repeat(4_000);

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  const limits = { idleSessionMs: 100, spillBytes: 8_000_000 };
  server = await startServer({ settings: { limits }, environment: COLLECTING });
  client = wireClient(server);
  for (const [, work] of WORKS) await work(2);
});

/** Each is done twice first, so that what is made once is made. */
const WORKS: readonly (readonly [string, (times: number) => Promise<unknown>])[] = [
  ['commands that flood', (times) => inTurn(Math.ceil(times / 20), () => run(block('Bash', { command: 'yes' })))],
  ['calls that are refused', (times) => inTurn(times, () => run(block('Glob', { pattern: 7, note: NOTE })))],
  ['batches that are too deep', (times) => inTurn(times, () => client.post('/execute', '['.repeat(50_000)))],
  ['viewers that stop to read', (times) => watchedByStalled(times)],
];

async function inTurn(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let each = 0; each < times; each++) await work();
}

async function run(call: object): Promise<void> {
  await client.execute(await client.session({ mode: 'bypassPermissions' }), [call]);
}

/** As many viewers as calls. */
async function watchedByStalled(count: number): Promise<void> {
  const sessionId = await client.session({ mode: 'bypassPermissions' });
  const streams = await Promise.all(Array.from({ length: count }, () => client.stream(sessionId)));
  for (const { socket } of streams) socket.pause();
  await inTurn(count, () => client.execute(sessionId, [block('Glob', { pattern: 7, note: NOTE })]));
  for (const { socket } of streams) socket.terminate();
}

describe('what a server holds', () => {
  it.each(WORKS)('after %s is what it held before', { timeout: 60_000 }, async (_what, work) => {
    await idle();
    const beforeMiB = await heldMiB(server);
    await work(100);
    await idle();
    expect(await heldMiB(server)).toBeLessThan(beforeMiB + MAX_MIB);
  });
});

/** No session is in memory any more. */
function idle(): Promise<unknown> {
  return until(async () => /^gauntlet_sessions_open 0$/m.test((await client.get('/metrics')).text));
}
