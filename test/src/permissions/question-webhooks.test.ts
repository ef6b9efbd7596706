/** Webhooks are told of questions: signed, a bounded number of times, and nobody waits for them. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import type { PermissionRequestFrame } from '../../../src/wire/frames.ts';
import { createQuestionWebhooks } from '../../../src/permissions/question-webhooks.ts';

const PACE = { tries: 3, answerMs: 200, retryMs: 5, maxUnderWay: 2 };
const FRAME: PermissionRequestFrame = {
  type: 'permission_request',
  request_id: 'ask_1',
  tool_use_id: 'a',
  tool_name: 'Bash',
  input: { command: 'rm ü' },
  title: 't',
  display: { title: 't', blocks: [] },
  reason: { type: 'default' },
  destructive: true,
  warnings: [],
  suggestions: [],
  expires_at: '2030-01-01T00:00:00.000Z',
};
const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

/** Answers as `replies` say, one after the other, the last one for ever. */
async function receiver(...replies: ((request: IncomingMessage, response: ServerResponse) => void)[]) {
  const got: { readonly body: string; readonly signature: unknown }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push({ body: Buffer.concat(chunks).toString('utf8'), signature: request.headers['x-gauntlet-signature'] });
      (replies[got.length - 1] ?? replies.at(-1))?.(request, response);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  ends.push(
    () => void server.close(),
    () => server.closeAllConnections(),
  );
  const problems: string[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const webhooks = createQuestionWebhooks({
    webhooks: [{ url, secret: 's3cret' }],
    ...PACE,
    onProblem: (message) => problems.push(message),
  });
  ends.push(() => webhooks?.close());
  return {
    got,
    problems,
    url,
    announce: (request_id = 'ask_1') => webhooks?.announce('ses_1', { ...FRAME, request_id }),
    settle: (requestId: string) => webhooks?.settle(requestId),
    close: () => webhooks?.close(),
  };
}
const status =
  (code: number, headers = {}) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(code, headers).end();

test('the frame and its session are posted with a signature over the very bytes', async () => {
  const { got, announce } = await receiver(status(204));
  announce();
  await vi.waitFor(() => expect(got).toHaveLength(1));
  expect(JSON.parse(got[0]?.body ?? '')).toEqual({ ...FRAME, session_id: 'ses_1' });
  expect(got[0]?.signature).toBe(
    `sha256=${createHmac('sha256', 's3cret')
      .update(got[0]?.body ?? '')
      .digest('hex')}`,
  );
});

test('a failing address is tried again, and given up after its tries', async () => {
  const { got, problems, announce, url } = await receiver(status(503));
  announce();
  await vi.waitFor(() => expect(problems).toHaveLength(1));
  expect(got).toHaveLength(3);
  expect(problems[0]).toContain('status 503');
  expect(problems[0]).not.toContain(url);
});

test('one that comes round is told once more and no further', async () => {
  const { got, problems, announce } = await receiver(status(500), (request) => request.destroy(), status(200));
  announce();
  await vi.waitFor(() => expect(got).toHaveLength(3));
  expect(problems).toEqual([]);
});

test('a redirect is not followed, and a refusal is not repeated', async () => {
  const other = await receiver(status(200));
  const { got, problems, announce } = await receiver(status(307, { location: other.url }));
  announce();
  await vi.waitFor(() => expect(problems).toHaveLength(1));
  expect([got.length, other.got.length]).toEqual([1, 0]);
});

test('one that never answers is given up in time, and holds up no more than its share', async () => {
  const { problems, announce } = await receiver(() => undefined);
  announce();
  announce();
  announce();
  expect(problems).toEqual(['Webhook 1 was not told of a question: too many are under way']);
  await vi.waitFor(() => expect(problems).toHaveLength(3), { timeout: 3_000 });
});

test('an answered question is not told of any more, and others are', async () => {
  const { got, problems, announce, settle } = await receiver((request, response) => {
    if (got.length === 2) settle('ask_1');
    status(503)(request, response);
  });
  announce('ask_1');
  announce('ask_2');
  await vi.waitFor(() => expect(problems).toHaveLength(1));
  const told = got.map(({ body }) => (JSON.parse(body) as { request_id: string }).request_id);
  expect(told.filter((id) => id === 'ask_1')).toHaveLength(1);
  expect(told.filter((id) => id === 'ask_2')).toHaveLength(3);
});

test('closing gives up what is under way without a word', async () => {
  let isGone = false;
  const { got, problems, announce, close } = await receiver(
    (request) => void request.socket.once('close', () => (isGone = true)),
  );
  announce();
  await vi.waitFor(() => expect(got).toHaveLength(1));
  close();
  announce();
  await vi.waitFor(() => expect(isGone).toBe(true));
  expect(problems).toEqual([]);
});
