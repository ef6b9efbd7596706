import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { AUTHORIZATION, listeningApp } from '../helpers/listening-app.ts';
import type { Readiness } from '../../src/wire/server-replies.ts';

let readiness: Readiness = 'ready';
const metrics = () => '# TYPE gauntlet_sessions_open gauge\ngauntlet_sessions_open 3\n';
const { url } = await listeningApp({ readiness: () => readiness, metrics, version: '1.2.3' });
const get = (path: string) => request(url).get(path).set(AUTHORIZATION);

test('a server that lives says so to anyone', async () => {
  expect((await request(url).get('/healthz').expect(200)).body).toEqual({ status: 'ok', version: '1.2.3' });
  await request(url).head('/healthz').expect(200);
});

test('a server that drains takes no work and says when to come again', async () => {
  await get('/readyz').expect(200);
  readiness = 'draining';
  const reply = await get('/readyz').expect(503);
  expect([reply.body, reply.headers['retry-after']]).toEqual([{ status: 'draining' }, '2']);
  const work = await request(url).post('/sessions').set(AUTHORIZATION).send({}).expect(503);
  expect([work.body.error.code, work.headers['retry-after']]).toEqual(['shutting_down', '2']);
  readiness = 'ready';
});

test('metrics are Prometheus text, for who has a token', async () => {
  await request(url).get('/metrics').expect(401);
  const { text, headers } = await get('/metrics').expect(200);
  expect(headers['content-type']).toContain('text/plain');
  expect(text).toContain('gauntlet_sessions_open 3');
  expect(text).toContain('process_resident_memory_bytes');
});

describe('the description of the API', () => {
  test('names every route with its parameters and its body', async () => {
    const { body } = await request(url).get('/openapi.json').expect(200);
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining([
        '/tools',
        '/tools/{name}',
        '/execute',
        '/sessions',
        '/sessions/{id}/events',
        '/tickets',
        '/metrics',
      ]),
    );
    expect(body.paths['/tools'].get.parameters.map(({ name }: { name: string }) => name)).toEqual([
      'session_id',
      'mode',
      'format',
      'schemas',
      'strict',
      'names',
      'max',
    ]);
    const execute = body.paths['/execute'].post.requestBody.content['application/json'].schema;
    expect(Object.keys(execute.properties)).toEqual(
      expect.arrayContaining(['tool_uses', 'message', 'tool_calls', 'output']),
    );
    expect(body.paths['/healthz'].get.security).toEqual([]);
  });

  test('is shown as a page that runs its own scripts only', async () => {
    const { text, headers } = await request(url).get('/docs').expect(200);
    expect(headers['content-security-policy']).toContain("script-src 'self'");
    for (const [, path = ''] of text.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect((await request(url).get(path).expect(200)).headers['content-type']).toMatch(/^text\/(css|javascript)/);
    }
    await request(url).get('/docs/..%2fpackage.json').expect(404);
    await request(url).get('/docs/index.html').expect(404);
  });
});
