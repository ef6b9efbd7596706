import request from 'supertest';
import { expect, test } from 'vitest';
import { AUTHORIZATION, listeningApp } from '../helpers/listening-app.ts';

const SPOOF = {
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  forwarded: 'for=203.0.113.9;host=evil.example',
};

test.each<[string, false | readonly string[], string]>([
  ['nobody is trusted', false, '127.0.0.1'],
  ['another proxy is trusted', ['10.0.0.0/8'], '127.0.0.1'],
  ['the proxy is trusted', ['127.0.0.0/8'], '203.0.113.9'],
  ['the proxy is trusted by its address', ['127.0.0.1'], '203.0.113.9'],
])('whose address a request has where %s', async (_what, trustProxy, address) => {
  const seen: string[] = [];
  const { url } = await listeningApp({ trustProxy, onBadCredential: (from) => seen.push(from) });
  await request(url).get('/tools').set(SPOOF).expect(401);
  expect(seen).toEqual([address]);
});

test('what a proxy says lets nobody in and changes no host, trusted or not', async () => {
  for (const trustProxy of [false, ['127.0.0.1']] as const) {
    const { url, port } = await listeningApp({ trustProxy });
    await request(url)
      .get('/sessions')
      .set({ ...SPOOF, 'x-forwarded-for': '127.0.0.1' })
      .expect(401);
    await request(url)
      .get('/tools')
      .set({ ...AUTHORIZATION, ...SPOOF })
      .expect(200);
    const evil = { ...AUTHORIZATION, host: 'evil.example', 'x-forwarded-host': `127.0.0.1:${port}` };
    await request(url).get('/tools').set(evil).expect(403);
    await request(url)
      .get('/tools')
      .set({ ...AUTHORIZATION, ...SPOOF, origin: 'https://evil.example' })
      .expect(403);
  }
});
