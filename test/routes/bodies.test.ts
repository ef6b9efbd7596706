import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { AUTHORIZATION, listeningApp } from '../helpers/listening-app.ts';

const { url } = await listeningApp({ limits: { bodyBytes: 10_000 } });
const post = (body: string, type = 'application/json') =>
  request(url)
    .post('/execute')
    .set(AUTHORIZATION)
    .set('content-type', type)
    .send(body)
    .serialize(String as never);
const nested = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

describe('content types', () => {
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json-patch+json',
    'application/vnd.api+json',
    'application/json; charset=utf-16',
    'application/json; charset=x',
    `application/json${'\t'.repeat(12_000)}x`,
    'application/json, text/plain',
    'application /json',
    'json',
  ])('%s is 415', async (type) => {
    expect((await post('{}', type).expect(415)).body.error.code).toBe('unsupported_media_type');
  });

  test.each(['application/json', 'APPLICATION/JSON', 'application/json;', 'application/json\t; charset="UTF-8"'])(
    '%s is judged by the schema like any other',
    async (type) => {
      expect((await post('{"tool_uses":1}', type).expect(400)).body.error.details.issues).toMatchObject([
        { path: 'tool_uses' },
      ]);
    },
  );

  test('a body that is said to be packed is 415', async () => {
    const headers = { ...AUTHORIZATION, 'content-encoding': 'gzip' };
    await request(url).post('/execute').set(headers).send({ tool_uses: [] }).expect(415);
  });

  test('a body without a type is 415', async () => {
    await request(url).post('/execute').set(AUTHORIZATION).unset('content-type').send(Buffer.from('{}')).expect(415);
  });
});

describe('JSON', () => {
  test.each([
    ['is not JSON', '{', 'not_json'],
    ['is nested too deep', nested(65), 'too_deep'],
    ['is nested ever so deep', '['.repeat(4_900) + ']'.repeat(4_900), 'too_deep'],
    ['reaches a prototype', '{"tool_uses":[{"__proto__":{"a":1}}]}', 'forbidden_key'],
    ['reaches one through the constructor', '{"constructor":{"prototype":{"a":1}}}', 'forbidden_key'],
  ])('that %s is refused', async (_what, body, reason) => {
    const { error } = (await post(body).expect(400)).body as { error: object };
    expect(error).toMatchObject({ code: 'invalid_request', details: { reason } });
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  test('that is as deep as it may be reaches the schema', async () => {
    expect((await post(nested(64)).expect(400)).body.error.details?.reason).toBeUndefined();
  });

  test('that is not UTF-8 is refused', async () => {
    const headers = { ...AUTHORIZATION, 'content-type': 'application/json' };
    const reply = await fetch(`${url}/execute`, { method: 'POST', headers, body: new Uint8Array([0x22, 0xff, 0x22]) });
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('not valid UTF-8')]);
  });

  test('that is too large is 413', async () => {
    expect((await post(`"${'x'.repeat(10_000)}"`).expect(413)).body.error.code).toBe('payload_too_large');
  });

  test('that is missing is named', async () => {
    await request(url).post('/execute').set(AUTHORIZATION).expect(400);
  });
});
