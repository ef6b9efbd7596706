/** F25: a client that stops reading costs nobody time, and what it missed is told. */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serverHome, startServer } from '../helpers/built-server.ts';
import { watchHealth } from '../helpers/health.ts';
import type { ClientSideFrame } from '../helpers/stream-client.ts';
import { block, wireClient } from '../helpers/wire-client.ts';

const FRAMES = 4_000;
const PLUGIN = `
import { z } from '${createRequire(import.meta.url).resolve('zod')}';
export default {
  name: 'Flood',
  prompt: 'Reports far more progress than anybody reads',
  inputSchema: z.strictObject({}),
  async call(_input, _context, _canUseTool, _message, onProgress) {
    for (let n = 0; n < ${FRAMES}; n++) {
      onProgress({ data: { type: 'flood', text: 'x'.repeat(7000) } });
      if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return { data: 'flooded' };
  },
};
`;

/** A server with that tool, a session, and a stream that has stopped to read before the flood. */
async function flooded(limits: object) {
  const home = serverHome();
  writeFileSync(join(home, 'data', 'flood.mjs'), PLUGIN);
  const server = await startServer({ home, settings: { plugins: ['./flood.mjs'], limits } });
  const client = wireClient(server);
  const health = await watchHealth(server);
  const sessionId = await client.session({ mode: 'bypassPermissions' });
  const stream = await client.stream(sessionId, { from_seq: 0 });
  await stream.next('live');
  stream.socket.pause();
  const { calls } = await client.execute(sessionId, [block('Flood', {})]);
  expect(calls).toMatchObject([{ status: 'ok' }]);
  return { client, health, sessionId, stream };
}

/** The numbers that frames and gaps cover, in the order in which they came. */
function covered(frames: readonly ClientSideFrame[]): number[] {
  return frames.flatMap(({ type, seq, from, to }) => {
    if (type === 'gap')
      return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index);
    return seq === undefined || type === 'live' ? [] : [seq];
  });
}

describe('F25: a client that stops reading', () => {
  it('and goes on is told what progress it missed, and gets every result', async () => {
    const { client, health, sessionId, stream } = await flooded({});
    await client.execute(sessionId, [block('Sleep', { duration_ms: 1_200 })]);
    stream.socket.resume();
    const { head } = (await client.get(`/sessions/${sessionId}`)).body;
    await stream.next(({ seq, to }) => seq === head || to === head);
    expect(covered(stream.frames)).toEqual(Array.from({ length: head }, (_, index) => index + 1));
    const gaps = stream.frames.filter(({ type }) => type === 'gap');
    expect(gaps.length).toBeGreaterThan(0);
    for (const gap of gaps) expect(gap).toMatchObject({ reason: 'coalesced' });
    expect(stream.frames.filter(({ type }) => type === 'result')).toHaveLength(2);
    await stream.close();
    await health.assertHealthy();
  });

  it('for good is closed with 4008, and has everything when it resumes', async () => {
    const { client, health, sessionId, stream } = await flooded({ slowReaderMs: 300 });
    await client.execute(sessionId, [block('Sleep', { duration_ms: 800 })]);
    stream.socket.resume();
    expect(await stream.closed).toMatchObject({ code: 4008 });
    const seen = covered(stream.frames);
    const back = await client.stream(sessionId, { from_seq: seen.at(-1) });
    expect(await back.next('welcome')).toMatchObject({ resumed: true });
    await back.next('live');
    const { head } = (await client.get(`/sessions/${sessionId}`)).body;
    expect([...seen, ...covered(back.frames)]).toEqual(Array.from({ length: head }, (_, index) => index + 1));
    await back.close();
    await health.assertHealthy();
  });
});
