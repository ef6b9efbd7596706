/** F26: a thousand sessions that are watched, and two hundred viewers that do not read. */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { watchHealth } from '../helpers/health.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const SESSIONS = 1_000;
const FRAMES = 100;
/** Calls under way at once. */
const AT_ONCE = 10;
const STALLED = 200;
const STALLED_FRAMES = 16_000;
/** Of viewers that stalled, those that come back. */
const RESUMED = 5;
/** Budgets: on a machine of two cores that the viewers share with the server. */
const P99_MS = 1_000;
const WATCHED_MIB = 400;
const STALLED_MIB = 160;
const TIMEOUT_MS = 90_000;
const PLUGIN = `
import { z } from '${createRequire(import.meta.url).resolve('zod')}';
export default {
  name: 'Chatter',
  prompt: 'Reports progress under a name',
  inputSchema: z.strictObject({ name: z.string(), count: z.int() }),
  async call({ name, count }, _context, _canUseTool, _message, onProgress) {
    for (let n = 0; n < count; n++) {
      onProgress({ data: { type: 'chatter', text: name.padEnd(900, '.') } });
      if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return { data: name };
  },
};
`;

/** A server with that tool, and room for all viewers. */
async function chattering(): Promise<{ server: BuiltServer; client: WireClient }> {
  const home = serverHome();
  writeFileSync(join(home, 'data', 'chatter.mjs'), PLUGIN);
  const settings = { plugins: ['./chatter.mjs'], limits: { connections: 2 * SESSIONS } };
  const server = await startServer({ home, settings });
  return { server, client: wireClient(server) };
}

/** A session with a viewer that notes how late each frame came, and what of it belongs to another session. */
async function watched(client: WireClient, name: string) {
  const sessionId = await client.session({ mode: 'bypassPermissions' });
  const stream = await client.stream(sessionId);
  const delaysMs: number[] = [];
  let strangers = 0;
  let last = 1;
  let missing = 0;
  stream.socket.on('message', (data) => {
    const text = String(data);
    const [, ts = ''] = /"ts":"([^"]+)"/.exec(text) ?? [];
    const [, seq] = /^\{"seq":(\d+)/.exec(text) ?? [];
    if (seq === undefined) return;
    delaysMs.push(Date.now() - Date.parse(ts));
    missing += Number(seq) - last - 1;
    last = Number(seq);
    for (const [owner] of text.matchAll(/session-\d+-/g)) if (owner !== name) strangers += 1;
  });
  await stream.next('live');
  return { sessionId, name, stream, delaysMs, found: () => ({ strangers, missing }) };
}

/** Do something with each, some at once. */
async function spread<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}

it(
  'a thousand viewers see their own session alone, whole, and in time',
  { timeout: TIMEOUT_MS },
  async ({ annotate }) => {
    const { server, client } = await chattering();
    const health = await watchHealth(server, { memoryMiB: WATCHED_MIB });
    const viewers: Awaited<ReturnType<typeof watched>>[] = [];
    const names = Array.from({ length: SESSIONS }, (_, each) => `session-${each}-`);
    await spread(names, async (name) => void viewers.push(await watched(client, name)));
    await spread(viewers, async ({ sessionId, name, stream }) => {
      await client.execute(sessionId, [block('Chatter', { name, count: FRAMES })]);
      await stream.next('turn_end');
    });
    for (const { found } of viewers) expect(found()).toEqual({ strangers: 0, missing: 0 });
    const delaysMs = viewers.flatMap(({ delaysMs: all }) => all).toSorted((one, other) => one - other);
    expect(delaysMs.length).toBeGreaterThan(SESSIONS * FRAMES);
    const p99Ms = delaysMs[Math.floor(delaysMs.length * 0.99)] ?? Number.NaN;
    await annotate(`p99 ${p99Ms} ms over ${delaysMs.length} frames, memory +${health.memoryPeakMiB().toFixed()} MiB`);
    expect(p99Ms).toBeLessThan(P99_MS);
    for (const { stream } of viewers) stream.socket.terminate();
    await health.assertHealthy();
  },
);

it(
  'viewers that do not read cost one log, and miss nothing but progress',
  { timeout: TIMEOUT_MS },
  async ({ annotate }) => {
    const { server, client } = await chattering();
    const health = await watchHealth(server, { memoryMiB: STALLED_MIB });
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const streams = await Promise.all(Array.from({ length: STALLED }, () => client.stream(sessionId)));
    await Promise.all(streams.map((stream) => stream.next('live')));
    for (const { socket } of streams) socket.pause();
    await client.execute(sessionId, [block('Chatter', { name: 'all', count: STALLED_FRAMES })]);
    await annotate(`memory +${health.memoryPeakMiB().toFixed()} MiB`);
    for (const { socket } of streams.splice(RESUMED)) socket.terminate();
    const { head } = (await client.get(`/sessions/${sessionId}`)).body;
    for (const { socket, next, frames } of streams) {
      socket.resume();
      await next('turn_end');
      const numbered = frames.filter(({ type }) => type !== 'live' && type !== 'welcome');
      const covered = numbered.map(({ seq, from, to }) => (seq === undefined ? Number(to) - Number(from) + 1 : 1));
      expect(covered.reduce((sum, each) => sum + each, 0)).toBe(head - 1);
      expect(frames.filter(({ type }) => type === 'result')).toHaveLength(1);
      socket.terminate();
    }
    await health.assertHealthy();
  },
);
