import request from 'supertest';
import { expect, test } from 'vitest';
import { AUTHORIZATION, listeningApp } from '../helpers/listening-app.ts';

const { url } = await listeningApp();
const get = (path: string) => request(url).get(path).set(AUTHORIZATION);

test('the list says how many tools of which kind there are', async () => {
  const { body, headers } = await get('/tools').expect(200);
  expect(body.tools.map((tool: { name: string }) => tool.name)).toEqual(['Bash', 'Read']);
  expect(body).toMatchObject({ built_in_count: 2, mcp_count: 0, deferred_count: 0 });
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
});

test('a list that is known is not sent again', async () => {
  const { headers } = await get('/tools').expect(200);
  const again = await get('/tools').set('if-none-match', `"other", W/${headers['etag']}`).expect(304);
  expect(again.text).toBe('');
  await get('/tools').set('if-none-match', '"other"').expect(200);
});

test.each([
  ['?mode=simple', { built_in_count: 1 }],
  ['?mode=repl', { built_in_count: 1 }],
  ['?schemas=none', { tools: [{ name: 'Bash' }, { name: 'Read' }] }],
  ['?format=openai-chat', { tools: [{ type: 'function' }, { type: 'function' }] }],
])('the query %s is obeyed', async (query, expected) => {
  expect((await get(`/tools${query}`).expect(200)).body).toMatchObject(expected);
});

test('a table is plain text', async () => {
  const { text, headers } = await get('/tools?format=table').expect(200);
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(text).toMatch(/^NAME/);
});

test('a wrong query names the field', async () => {
  const { body } = await get('/tools?format=xml').expect(400);
  expect(body.error).toMatchObject({ code: 'invalid_request', details: { issues: [{ path: 'format' }] } });
});

test('one tool is found by its alias', async () => {
  expect((await get('/tools/FileRead').expect(200)).body).toMatchObject({ name: 'Read', state: 'enabled' });
  expect((await get('/tools/Nothing').expect(404)).body.error.code).toBe('not_found');
});

test('a session and a mode together are refused', async () => {
  await get('/tools?session_id=s&mode=simple').expect(400);
  await get('/tools?session_id=s').expect(404);
});
