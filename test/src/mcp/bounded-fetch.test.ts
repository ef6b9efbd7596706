import { getEventListeners } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { boundedFetch } from '../../../src/mcp/bounded-fetch.ts';
import { listen } from '../../helpers/mcp-http.ts';

/** Fetch what a server writes piece by piece. */
async function fetched(contentType: string, pieces: readonly string[], status = 200): Promise<string> {
  const { url } = await listen(async (_request, response) => {
    response.writeHead(status, { 'content-type': contentType });
    for (const piece of pieces) await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    response.end();
  });
  return (await boundedFetch(100)(url)).text();
}

describe('a bounded response', () => {
  test('passes while it is small enough', async () => {
    await expect(fetched('application/json', ['x'.repeat(50), 'x'.repeat(50)])).resolves.toHaveLength(100);
  });

  test('fails when it grows too large', async () => {
    await expect(fetched('application/json', ['x'.repeat(50), 'x'.repeat(51)])).rejects.toThrow('more than 100 bytes');
  });

  test('of an error is bounded too', async () => {
    await expect(fetched('text/plain', ['x'.repeat(50), 'x'.repeat(51)], 500)).rejects.toThrow('more than 100 bytes');
  });

  test.each(['\n\n', '\r\n\r\n'])('of events may go on for ever, event by event (%j)', async (end) => {
    const events = Array.from({ length: 20 }, () => [`data: ${'x'.repeat(60)}`, end.slice(0, 1), end.slice(1)]).flat();
    await expect(fetched('text/event-stream', events)).resolves.toHaveLength(20 * (66 + end.length));
  });

  test('of one event that never ends fails', async () => {
    await expect(fetched('text/event-stream', ['data: ', 'x'.repeat(60), '\n', 'x'.repeat(60)])).rejects.toThrow(
      'more than 100',
    );
  });
});

describe('the signal of a connection', () => {
  test('is listened to no longer than each request lasts, however it ends', async () => {
    const { url } = await listen(({ url: path }, response) => {
      if (path === '/broken') response.writeHead(200).write('x', () => response.destroy());
      else response.end('x'.repeat(path === '/long' ? 101 : 10));
    });
    const { signal } = new AbortController();
    const fetchBounded = boundedFetch(100);
    const get = async (path: string) => (await fetchBounded(new URL(path, url), { signal })).text();
    await get('/short');
    await expect(get('/long')).rejects.toThrow('more than 100');
    await expect(get('/broken')).rejects.toThrow();
    await expect(fetchBounded('http://127.0.0.1:1', { signal })).rejects.toThrow();
    await (await fetchBounded(url, { signal })).body?.cancel();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('ends a request that waits, and one whose body is read', async () => {
    const { url } = await listen((_request, response) => void response.writeHead(200).write('begun'));
    const controller = new AbortController();
    const response = await boundedFetch(100)(url, { signal: controller.signal });
    const read = response.text();
    controller.abort(new Error('closed'));
    await expect(read).rejects.toThrow('closed');
    await expect(boundedFetch(100)(url, { signal: controller.signal })).rejects.toThrow('closed');
  });
});

test('a slow reply is waited for longer than Node itself would', async () => {
  const { url } = await listen((_request, response) => void setTimeout(() => response.end('late'), 3_500));
  await fetch('data:,');
  const key = Symbol.for('undici.globalDispatcher.1');
  const held = globalThis as unknown as Record<symbol, object>;
  const own = held[key] as object;
  onTestFinished(() => void (held[key] = own));
  held[key] = new (own.constructor as new (options: object) => object)({ headersTimeout: 1_000 });

  const [plain, patient] = await Promise.allSettled([fetch(url), boundedFetch(100)(url)]);

  expect(plain.status).toBe('rejected');
  expect(patient.status === 'fulfilled' && (await patient.value.text())).toBe('late');
});
