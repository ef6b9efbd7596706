/** What ends in the middle of work: sessions that are deleted, calls that are cancelled, clients that go away. */
import { copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { survivorsOf, watchHealth } from '../helpers/health.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  server = await startServer({ settings: { limits: { killGraceMs: 300 } } });
  client = wireClient(server);
});

const open = () => client.session({ mode: 'bypassPermissions' });
const bash = (command: string, more: object = {}) => block('Bash', { command, ...more });
const isThere = (name: string) => until(() => Promise.resolve(existsSync(join(server.workspace, name))));
const folderOf = (sessionId: string) => join(server.dataFolder, 'sessions', sessionId);

describe('a session that is deleted', () => {
  it('ends the calls that run and those that wait, and leaves no file', async () => {
    const health = await watchHealth(server);
    const sessionId = await open();
    const calls = [bash('touch flooding; setsid sleep 60 & yes'), bash('touch never')];
    const reply = client.post('/execute', { session_id: sessionId, tool_uses: calls });
    await isThere('flooding');
    await until(() => Promise.resolve(existsSync(folderOf(sessionId))));
    expect((await client.send('DELETE', `/sessions/${sessionId}`)).status).toBe(204);
    expect((await reply).body.error.code).toMatch(/^(gone|not_found)$/);
    expect((await client.get(`/sessions/${sessionId}`)).status).toBe(404);
    await health.assertHealthy();
    await until(() => Promise.resolve(!existsSync(folderOf(sessionId))));
    expect(existsSync(join(server.workspace, 'never'))).toBe(false);
  });

  it('ends its background tasks, which its calls did not', async () => {
    const health = await watchHealth(server);
    const sessionId = await open();
    const command = 'trap "" TERM; setsid sleep 60 & touch behind; while :; do echo on; sleep 0.05; done';
    const { calls } = await client.execute(sessionId, [bash(command, { run_in_background: true })]);
    expect(calls).toMatchObject([{ status: 'ok' }]);
    await isThere('behind');
    expect((await client.execute(sessionId, [bash('echo done')])).calls).toMatchObject([{ status: 'ok' }]);
    expect(survivorsOf(server).length).toBeGreaterThan(1);
    expect((await client.send('DELETE', `/sessions/${sessionId}`)).status).toBe(204);
    await health.assertHealthy();
    await until(() => Promise.resolve(!existsSync(folderOf(sessionId))));
  });

  it('while it floods, many times over, is gone each time', async () => {
    const health = await watchHealth(server);
    const once = async () => {
      const sessionId = await open();
      const reply = client.post('/execute', { session_id: sessionId, tool_uses: [bash('yes')] });
      await until(() =>
        Promise.resolve(existsSync(folderOf(sessionId)) && readdirSync(folderOf(sessionId)).length > 0),
      );
      const { status } = await client.send('DELETE', `/sessions/${sessionId}`);
      await reply;
      return { status, sessionId };
    };
    const deleted = [];
    for (let round = 0; round < 5; round++) deleted.push(await once());
    expect(deleted.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    await health.assertHealthy();
    expect(deleted.filter(({ sessionId }) => existsSync(folderOf(sessionId)))).toEqual([]);
  });
});

describe('a call that is cancelled', () => {
  it('while it waits for an answer never runs, and its question is withdrawn', async () => {
    const sessionId = await client.session();
    const stream = await client.stream(sessionId, { from_seq: 0 });
    const call = bash('touch answered');
    stream.send({ type: 'tool_use', tool_use: call });
    const { request_id } = await stream.next('permission_request');
    stream.send({ type: 'cancel', tool_use_id: call.id });
    expect(await stream.next('result')).toMatchObject({ call: { status: 'cancelled' } });
    expect(await stream.next('permission_resolved')).toMatchObject({ request_id, behavior: 'deny', by: 'cancelled' });
    const late = await client.post(`/sessions/${sessionId}/prompts/${String(request_id)}`, { behavior: 'allow' });
    expect(late.status).toBe(409);
    expect(existsSync(join(server.workspace, 'answered'))).toBe(false);
    await stream.close();
  });

  it('by an interrupt ends only if it can be begun again', async () => {
    const health = await watchHealth(server);
    const [restartable, lasting] = [await open(), await open()];
    const streams = [await client.stream(restartable), await client.stream(lasting)];
    streams[0]?.send({ type: 'tool_use', tool_use: bash('sleep 60') });
    streams[1]?.send({ type: 'tool_use', tool_use: bash('until [ -e tested ]; do :; done') });
    for (const stream of streams) {
      await stream.next(({ type, state }) => type === 'state' && state === 'executing');
      stream.send({ type: 'interrupt' });
      await stream.next('notice');
    }
    writeFileSync(join(server.workspace, 'tested'), '');
    expect(await streams[0]?.next('result')).toMatchObject({ call: { status: 'cancelled' } });
    expect(await streams[1]?.next('result')).toMatchObject({ call: { status: 'ok' } });
    for (const stream of streams) await stream.close();
    await health.assertHealthy();
  });
});

describe('F30: a client that goes away in the middle of a batch', () => {
  it.each([
    [false, ['ok', 'ok']],
    [true, ['cancelled', 'cancelled']],
  ])('with cancel_on_disconnect %s leaves one result a call: %j', async (cancel_on_disconnect, statuses) => {
    const health = await watchHealth(server);
    const sessionId = await open();
    const name = `left-${cancel_on_disconnect}`;
    const calls = [bash(`touch ${name}; sleep 0.3; echo done`), bash('echo second')];
    const leaving = new AbortController();
    const body = { session_id: sessionId, tool_uses: calls, cancel_on_disconnect };
    const left = client.post('/execute', body, { signal: leaving.signal }).catch((error: unknown) => error);
    await isThere(name);
    leaving.abort();
    expect(await left).toMatchObject({ name: 'AbortError' });
    const ended = await until(async () => {
      const results = (await client.frames(sessionId)).filter(({ type }) => type === 'result');
      return results.length === 2 && results;
    });
    expect(ended.map(({ call }) => (call as { status: string }).status)).toEqual(statuses);
    const { body: stored } = await client.get(`/sessions/${sessionId}/results/${calls[0]?.id}`);
    expect(stored['text']).toContain(cancel_on_disconnect ? 'ancelled' : 'done');
    const again = await client.execute(sessionId, calls);
    expect(again.calls.map(({ status, replayed }) => [status, replayed])).toEqual(
      statuses.map((status) => [status, true]),
    );
    await health.assertHealthy();
  });
});

describe('a second server', () => {
  it.each(['of its own', 'that is a copy of the first one’s'])(
    'that starts with a data directory %s leaves the children of the first alone',
    async (which) => {
      const sessionId = await open();
      const go = which.length;
      const command = `touch began-${go}; setsid sleep 0.9 & until [ -e go-${go} ]; do sleep 0.02; done; wait; echo over`;
      const reply = client.execute(sessionId, [bash(command)]);
      await isThere(`began-${go}`);
      const home = serverHome();
      if (which !== 'of its own') copyFileSync(join(server.dataFolder, 'id'), join(home, 'data', 'id'));
      const second = await startServer({ home });
      const other = wireClient(second);
      // Its sweep has come before its first command.
      const swept = await other.execute(await other.session({ mode: 'bypassPermissions' }), [bash('echo swept')]);
      expect(swept.results[0]?.content).toBe('swept');
      writeFileSync(join(server.workspace, `go-${go}`), '');
      expect((await reply).calls).toMatchObject([{ status: 'ok' }]);
      await second.end();
    },
  );
});
