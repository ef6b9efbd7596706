import { expect, test } from 'vitest';
import { listeningApp, rawExchange, TOKEN } from '../helpers/listening-app.ts';

const { port } = await listeningApp({ limits: { bodyTimeoutMs: 300 } });
const start = `POST /tools HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n`;

test.each([
  ['a body that does not end', `${start}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`],
  ['headers that do not end', start],
  ['nothing at all', ''],
])('%s is not waited for', async (_what, bytes) => {
  const reply = await rawExchange(port, bytes);
  expect(reply).toMatch(/^HTTP\/1.1 408 /);
  expect(reply).toContain('"reason":"body_timeout"');
});
