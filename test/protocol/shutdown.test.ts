/** PROTOCOL 8: how a server goes. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startServer, type ServerOptions } from '../helpers/built-server.ts';
import { survivorsOf, watchHealth } from '../helpers/health.ts';
import { block, until, wireClient } from '../helpers/wire-client.ts';

const bash = (command: string) => block('Bash', { command });

/** A server in which one call runs until `go` is there, with another queued behind. */
async function busy(options: ServerOptions = {}) {
  const server = await startServer(options);
  const client = wireClient(server);
  const sessionId = await client.session({ mode: 'bypassPermissions' });
  const stream = await client.stream(sessionId, { from_seq: 0 });
  const calls = [bash('touch started; until [ -e go ]; do sleep 0.02; done; echo over'), bash('touch queued')];
  const reply = client.execute(sessionId, calls).catch((error: unknown) => error);
  await until(() => Promise.resolve(existsSync(join(server.workspace, 'started'))));
  return { server, client, sessionId, stream, reply, calls };
}

const draining = (client: ReturnType<typeof wireClient>) =>
  until(async () => (await client.get('/readyz')).status === 503);

describe('SIGTERM', () => {
  it('as soon as the server listens is no error', async () => {
    const server = await startServer();
    expect([0, 143]).toContain((await server.end('SIGTERM')).code);
    expect(server.logged()).not.toContain('"level":50');
  });

  it('takes no new work, lets what runs finish, and closes with 1001', async () => {
    const { server, client, sessionId, stream, reply } = await busy();
    expect((await client.get('/readyz')).status).toBe(200);
    const ended = server.end('SIGTERM');
    await draining(client);
    const refused = await client.post('/execute', { tool_uses: [bash('echo new')] });
    expect(refused.status).toBe(503);
    expect(refused.body.error.code).toBe('shutting_down');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await client.get('/healthz')).status).toBe(200);
    stream.send({ type: 'tool_use', tool_use: bash('echo new') });
    expect(await stream.next('error')).toMatchObject({ code: 'shutting_down' });
    writeFileSync(join(server.workspace, 'go'), '');
    expect(await reply).toMatchObject({ session_id: sessionId, calls: [{ status: 'ok' }, expect.anything()] });
    expect(await stream.closed).toMatchObject({ code: 1001 });
    const kinds = stream.frames.map(({ type }) => type);
    expect(kinds.filter((type) => type === 'result')).toHaveLength(2);
    expect(stream.frames.at(-1)).toMatchObject({ type: 'bye', code: 1001 });
    expect([0, 143]).toContain((await ended).code);
  });

  it('interrupts what has not finished when the drain is over', async () => {
    const { server, sessionId, stream, reply } = await busy({ settings: { limits: { drainMs: 200 } } });
    const exit = await server.end('SIGTERM');
    expect([0, 143]).toContain(exit.code);
    await reply;
    expect(await stream.closed).toMatchObject({ code: 1001 });
    const next = wireClient(await startServer({ home: server.home }));
    const results = (await next.frames(sessionId)).filter(({ type }) => type === 'result');
    expect(results).toMatchObject([{ call: { status: 'interrupted' } }, { call: { status: 'interrupted' } }]);
    expect(existsSync(join(server.workspace, 'queued'))).toBe(false);
  });

  it('sent twice within a second is one, and what runs may finish', async () => {
    const { server, client, reply } = await busy();
    const ended = server.end('SIGTERM');
    server.end('SIGTERM').catch(() => undefined);
    await draining(client);
    server.end('SIGINT').catch(() => undefined);
    writeFileSync(join(server.workspace, 'go'), '');
    expect(await reply).toMatchObject({ calls: [{ status: 'ok' }, expect.anything()] });
    expect((await ended).code).toBe(0);
  });

  it('F10: sent again a second later ends at once, with all that runs, and the next server says so', async () => {
    const { server, client, sessionId } = await busy();
    const health = await watchHealth(server);
    const firstMs = performance.now();
    const ended = server.end('SIGTERM');
    await draining(client);
    await until(() => Promise.resolve(performance.now() - firstMs > 1_200));
    const startedMs = performance.now();
    server.end('SIGTERM').catch(() => undefined);
    await ended;
    expect(performance.now() - startedMs).toBeLessThan(3_000);
    const next = await startServer({ home: server.home });
    const results = (await wireClient(next).frames(sessionId)).filter(({ type }) => type === 'result');
    expect(results).toMatchObject([{ call: { status: 'interrupted' } }, { call: { status: 'interrupted' } }]);
    await health.assertHealthy(next);
  });

  it('F10: ends background tasks and what fled from its call with the drain', async () => {
    const server = await startServer({ settings: { limits: { drainMs: 300, killGraceMs: 300 } } });
    const client = wireClient(server);
    const health = await watchHealth(server);
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const command = 'trap "" TERM; setsid sleep 60 & touch behind; sleep 60; sleep 60';
    await client.execute(sessionId, [block('Bash', { command, run_in_background: true })]);
    await until(() => Promise.resolve(existsSync(join(server.workspace, 'behind'))));
    client.execute(sessionId, [bash('setsid sleep 60 & touch started; sleep 60')]).catch(() => undefined);
    await until(() => Promise.resolve(existsSync(join(server.workspace, 'started'))));
    expect([0, 143]).toContain((await server.end('SIGTERM')).code);
    expect(survivorsOf(server)).toEqual([]);
    await health.assertHealthy(await startServer({ home: server.home }));
  });

  it('ends an idle server at once, a connection that says nothing included', async () => {
    const server = await startServer();
    const client = wireClient(server);
    const stream = await client.stream(await client.session());
    await stream.next('live');
    const startedMs = performance.now();
    expect(await server.end('SIGTERM')).toMatchObject({ code: 0 });
    expect(performance.now() - startedMs).toBeLessThan(3_000);
    expect(await stream.closed).toMatchObject({ code: 1001 });
  });

  it('leaves an open question for the next server', async () => {
    const server = await startServer();
    const client = wireClient(server);
    const sessionId = await client.session();
    const stream = await client.stream(sessionId);
    stream.send({ type: 'tool_use', tool_use: bash('touch asked') });
    const { request_id } = await stream.next('permission_request');
    const startedMs = performance.now();
    await server.end('SIGTERM');
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    const next = wireClient(await startServer({ home: server.home }));
    expect((await next.get(`/sessions/${sessionId}/prompts`)).body.prompts).toMatchObject([{ request_id }]);
  });

  it('on SIGINT does the same', async () => {
    const server = await startServer();
    expect([0, 130]).toContain((await server.end('SIGINT')).code);
  });
});
