/** HARDENING A24: what answers a hook over HTTP is bounded in bytes once decoded, in time, and in headers. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runHttpHook } from '../../../src/hooks/run-hook.ts';

const MIB = 1_024 * 1_024;
const OUTPUT_BYTES = 64 * 1_024;
const TIMEOUT_MS = 1_000;

/** By path: what a hostile address answers. */
const ANSWERS: Readonly<Record<string, (reply: ServerResponse) => void>> = {
  '/bomb': (reply) => {
    const part = gzipSync(Buffer.alloc(64 * MIB));
    reply.setHeader('content-encoding', 'gzip');
    for (let count = 0; count < 16; count++) reply.write(part);
    reply.end();
  },
  '/endless': (reply) => {
    const pipeReply = () => {
      while (!reply.destroyed && reply.write(Buffer.alloc(MIB)));
    };
    reply.on('drain', pipeReply);
    pipeReply();
  },
  '/drip': (reply) => {
    const drip = setInterval(() => reply.write('x'), 50);
    reply.once('close', () => clearInterval(drip));
  },
  '/headers': (reply) => {
    const socket = reply.socket;
    socket?.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(1_000_000)}\r\n`);
  },
  '/good': (reply) => reply.end('{"continue":true}'),
};

const server = createServer((request, reply) => ANSWERS[request.url ?? '']?.(reply));
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function ask(path: string) {
  const { port } = server.address() as AddressInfo;
  const hook = { type: 'http', url: `http://127.0.0.1:${port}${path}` } as const;
  const { signal } = new AbortController();
  return runHttpHook(hook, {
    cwd: '/',
    projectFolder: '/',
    payload: '{}',
    timeoutMs: TIMEOUT_MS,
    outputBytes: OUTPUT_BYTES,
    signal,
  });
}

it.each([
  ['a gibibyte in a mebibyte', '/bomb', `answered with more than ${OUTPUT_BYTES} bytes`],
  ['a body without an end', '/endless', `answered with more than ${OUTPUT_BYTES} bytes`],
  ['a byte now and then', '/drip', 'gave no answer within 1 s'],
  ['a million headers', '/headers', 'could not be reached'],
])('%s ends as a broken answer, in little memory', async (_what, path, why) => {
  const before = process.memoryUsage().rss;
  expect(await ask(path)).toEqual({ kind: 'broken', why });
  expect((process.memoryUsage().rss - before) / MIB).toBeLessThan(512);
});

it('an honest answer is taken after all of them', async () => {
  expect(await ask('/good')).toMatchObject({ kind: 'ended', stdout: '{"continue":true}' });
});
