/** F24: connections are cut at any byte, and a client that resumes has everything once. */
import { request } from 'node:http';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { cuttingProxy, type CuttingProxy } from '../helpers/cutting-proxy.ts';
import type { ClientSideFrame } from '../helpers/stream-client.ts';
import { sharedServer } from '../helpers/shared-workspace.ts';
import { block, wireClient, type ServerAddress, type WireClient } from '../helpers/wire-client.ts';

/** Bytes after which connections are cut, one after another; then one lives. */
const cuts = fc.array(fc.integer({ min: 1, max: 6_000 }), { minLength: 1, maxLength: 8 });
const RUNS = 12;

let server: ServerAddress;
let client: WireClient;
let proxy: CuttingProxy;

beforeAll(async () => {
  server = await sharedServer();
  client = wireClient(server);
  proxy = await cuttingProxy(() => server.url);
});

/** What a client knows that comes again and again. */
interface Memory {
  readonly frames: ClientSideFrame[];
  epoch?: string;
}

/** Connect through the proxy until `last` was seen, each connection cut as asked. */
async function readThrough(
  connect: (memory: Memory, last: number) => Promise<void>,
  after: readonly number[],
  last: number,
) {
  const memory: Memory = { frames: [] };
  for (const bytes of [...after, undefined]) {
    proxy.cutAfter(bytes);
    if (seen(memory) < last) await connect(memory, last);
  }
  return memory.frames;
}

const seen = ({ frames }: Memory) => frames.at(-1)?.seq ?? 0;
const headers = () => ({ authorization: `Bearer ${server.token}`, host: new URL(server.url).host });

/** One WebSocket, until it is cut or has everything. */
function overWebSocket(sessionId: string) {
  return (memory: Memory, last: number) =>
    new Promise<void>((resolve) => {
      const address = `${proxy.url.replace('http', 'ws')}/sessions/${sessionId}/stream`;
      const socket = new WebSocket(address, ['gauntlet.v1'], { headers: headers() });
      const hello = { type: 'hello', from_seq: seen(memory), ...(memory.epoch && { epoch: memory.epoch }) };
      socket.on('open', () => socket.send(JSON.stringify(hello)));
      // A cut handshake is an error here, and the next connection goes on.
      socket.on('error', () => socket.terminate());
      socket.on('close', () => resolve());
      socket.on('message', (data) => {
        const frame = JSON.parse(String(data)) as ClientSideFrame;
        if (frame.type === 'welcome') {
          expect(frame['resumed']).toBe(true);
          memory.epoch = String(frame['epoch']);
        } else if (frame.seq !== undefined && frame.type !== 'live') memory.frames.push(frame);
        if (seen(memory) >= last) socket.close();
      });
    });
}

/** One stream of Server-Sent Events, until it is cut or has everything. */
function overEvents(sessionId: string) {
  return (memory: Memory, last: number) =>
    new Promise<void>((resolve) => {
      const resumes = memory.epoch === undefined ? {} : { 'last-event-id': `${memory.epoch}.${seen(memory)}` };
      const sent = request(
        `${proxy.url}/sessions/${sessionId}/events`,
        { headers: { ...headers(), accept: 'text/event-stream', ...resumes } },
        (reply) => {
          let rest = '';
          reply.setEncoding('utf8').on('data', (text: string) => {
            const events = (rest + text).split('\n\n');
            rest = events.pop() ?? '';
            for (const event of events) {
              const [, epoch] = /^id: ?([^.]+)\./m.exec(event) ?? [];
              const [, data] = /^data: ?(.*)$/m.exec(event) ?? [];
              if (epoch === undefined || data === undefined) continue;
              memory.epoch = epoch;
              memory.frames.push(JSON.parse(data) as ClientSideFrame);
            }
            if (seen(memory) >= last) sent.destroy();
          });
          reply.on('error', () => undefined);
          reply.on('close', resolve);
        },
      );
      // A cut before the reply began; where there was one, its end counts.
      sent.on('error', () => resolve());
      sent.end();
    });
}

describe('F24: a reader that is cut off and resumes', () => {
  it.each([
    ['over the WebSocket', overWebSocket],
    ['over Server-Sent Events', overEvents],
  ])('has every frame once and in order, %s', async (_door, over) => {
    await fc.assert(
      fc.asyncProperty(cuts, async (after) => {
        const sessionId = await client.session({ mode: 'bypassPermissions' });
        const text = 'é漢😀'.repeat(40);
        const calls = [1, 2, 3].map((each) => block('Bash', { command: `echo ${each} ${text}` }));
        // The first cuts fall while calls run, the later ones into what is stored.
        const running = client.execute(sessionId, calls);
        const early = await readThrough(over(sessionId), after.slice(0, 2), 1);
        await running;
        const whole = await client.frames(sessionId);
        const late = await readThrough(over(sessionId), after, whole.length);
        expect(early[0]).toEqual(whole[0]);
        expect(late).toEqual(whole);
      }),
      { numRuns: RUNS },
    );
  });
});
