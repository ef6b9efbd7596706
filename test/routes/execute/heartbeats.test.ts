/** A reply that takes long is never silent for long. */
import { expect, test } from 'vitest';
import { AUTHORIZATION, listeningApp } from '../../helpers/listening-app.ts';
import { plainTool } from '../../helpers/plain-tool.ts';
import { waitingTool } from '../../helpers/slow-tools.ts';
import { testSessions } from '../../helpers/test-sessions.ts';

/** A server with a slow and a quick tool, and a way to call them. */
async function slowServer() {
  const { tool, release } = waitingTool();
  const quick = plainTool('Quick', { touchesOnlySession: () => true });
  const { directory, newSessionPool } = testSessions([tool, quick]);
  const { url } = await listeningApp({ directory, newSessionPool, limits: { webSocketPingMs: 20 } });
  const execute = (name: string, accept = 'application/json', sessionId?: string) =>
    fetch(`${url}/execute`, {
      method: 'POST',
      headers: { ...AUTHORIZATION, accept, 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: sessionId, tool_uses: [{ type: 'tool_use', id: 'a', name, input: {} }] }),
    });
  return { execute, release, directory };
}

/** Read the body until `isEnough`, then call `then`, and read the rest. */
async function readWith(reply: Response, isEnough: (text: string) => boolean, then: () => unknown): Promise<string> {
  if (reply.body === null) throw new Error('The reply has no body');
  let text = '';
  let isCalled = false;
  for await (const piece of reply.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (isCalled || !isEnough(text)) continue;
    isCalled = true;
    await then();
  }
  return text;
}

test('a long JSON reply has white space ahead of it', async () => {
  const { execute, release } = await slowServer();
  const reply = await execute('Wait');
  expect(reply.status).toBe(200);
  const text = await readWith(reply, (sofar) => sofar.length >= 3, release);
  expect(text).toMatch(/^ {3,}\{/);
  expect(JSON.parse(text)).toMatchObject({ results: [{ tool_use_id: 'a' }], calls: [{ status: 'ok' }] });
});

test('a long NDJSON reply has blank lines in it', async () => {
  const { execute, release } = await slowServer();
  const reply = await execute('Wait', 'application/x-ndjson');
  const text = await readWith(reply, (sofar) => sofar.endsWith('\n\n\n'), release);
  const frames = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as { type: string }]));
  expect(frames.at(-1)).toMatchObject({ type: 'turn_end' });
});

test('an error that comes late is the body of the reply', async () => {
  const { execute, directory } = await slowServer();
  const session = await directory.create('owner', {});
  const reply = await execute('Wait', 'application/json', session.id);
  const text = await readWith(
    reply,
    (sofar) => sofar.length >= 2,
    () => directory.remove('owner', session.id),
  );
  expect(reply.status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ error: { code: 'gone' }, request_id: expect.any(String) });
});

test('a short reply has none, and keeps its length', async () => {
  const reply = await (await slowServer()).execute('Quick');
  expect(reply.headers.get('content-length')).not.toBeNull();
  expect(await reply.text()).toMatch(/^\{/);
});
