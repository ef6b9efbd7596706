/** PROTOCOL 5, rules 1, 5 and 6: what a `kill -9` leaves behind, and what the next server makes of it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { watchHealth } from '../helpers/health.ts';
import type { ClientSideFrame } from '../helpers/stream-client.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const bash = (command: string) => block('Bash', { command });
const results = (frames: readonly ClientSideFrame[]) => frames.filter(({ type }) => type === 'result');
const statuses = (frames: readonly ClientSideFrame[]) =>
  results(frames).map(({ call }) => (call as { status: string }).status);

/** Kill a server without warning, and start another over what it left. */
async function crash(server: BuiltServer): Promise<{ server: BuiltServer; client: WireClient }> {
  await server.end('SIGKILL');
  const next = await startServer({ home: server.home });
  return { server: next, client: wireClient(next) };
}

/** A session whose first call has finished, second runs and third waits. */
async function batchInFlight(server: BuiltServer, first: object = bash('echo done')) {
  const client = wireClient(server);
  const sessionId = await client.session({ mode: 'bypassPermissions' });
  const stream = await client.stream(sessionId, { from_seq: 0 });
  const calls = [first, bash('touch started; sleep 60'), bash('touch third')];
  for (const tool_use of calls) stream.send({ type: 'tool_use', turn_id: 't', tool_use });
  await stream.next('result');
  await until(() => Promise.resolve(existsSync(join(server.workspace, 'started'))));
  return { client, sessionId, calls: calls as { id: string }[], before: () => stream.frames.filter(isLogged) };
}

const isLogged = ({ type, seq }: ClientSideFrame) => seq !== undefined && type !== 'live';

describe('a server that was killed', () => {
  it('kept what was acknowledged, and interrupts once what had no result', async () => {
    const server = await startServer();
    const { sessionId, calls, before, client: dead } = await batchInFlight(server);
    const { epoch } = (await dead.get(`/sessions/${sessionId}/events`)).body;
    const seen = before();
    const { client } = await crash(server);
    const after = await client.frames(sessionId);
    expect(after.slice(0, seen.length)).toEqual(seen);
    expect(after.map(({ seq }) => seq)).toEqual(after.map((_frame, index) => index + 1));
    expect(statuses(after)).toEqual(['ok', 'interrupted', 'interrupted']);
    expect(results(after).map(({ tool_use_id }) => tool_use_id)).toEqual(calls.map(({ id }) => id));
    for (const { call } of results(after).slice(1)) expect(call).toMatchObject({ error_code: 'interrupted' });
    expect(after.filter(({ type }) => type === 'turn_end')).toHaveLength(1);
    expect((await client.get(`/sessions/${sessionId}/events`)).body.epoch).toBe(epoch);
    expect(existsSync(join(server.workspace, 'third'))).toBe(false);
  });

  it('adds nothing when it is started again and again', async () => {
    const server = await startServer();
    const { sessionId } = await batchInFlight(server);
    const second = await crash(server);
    const once = await second.client.frames(sessionId);
    const third = await crash(second.server);
    const again = await third.client.frames(sessionId);
    expect(again.slice(0, once.length)).toEqual(once);
    expect(statuses(again)).toEqual(['ok', 'interrupted', 'interrupted']);
  });

  it('gives an interrupted id its stored result, and a new id a new run', async () => {
    const server = await startServer();
    const { sessionId, calls } = await batchInFlight(server);
    const { client } = await crash(server);
    const replayed = await client.execute(sessionId, calls);
    expect(replayed.calls).toMatchObject([
      { status: 'ok', replayed: true },
      { status: 'interrupted', replayed: true },
      { status: 'interrupted', replayed: true },
    ]);
    expect(existsSync(join(server.workspace, 'third'))).toBe(false);
    expect((await client.execute(sessionId, [bash('touch third')])).calls[0]).toMatchObject({ status: 'ok' });
  });

  it('F01: at any moment kept each result it gave, and interrupts the rest once', async () => {
    let server = await startServer();
    for (const delayFrames of [1, 6, 14]) {
      const client = wireClient(server);
      const health = await watchHealth(server);
      const sessionId = await client.session({ mode: 'bypassPermissions' });
      const safe = [
        bash('echo 0'),
        bash('echo 1'),
        block('Sleep', { duration_ms: 20 }),
        block('Sleep', { duration_ms: 40 }),
      ];
      const calls = [...safe, bash('touch a; sleep 60'), bash('touch b')];
      client.execute(sessionId, calls).catch(() => undefined);
      await until(async () => (await client.get(`/sessions/${sessionId}`)).body.head > delayFrames);
      const seen = await client.frames(sessionId);
      const next = await crash(server);
      server = next.server;
      const after = await next.client.frames(sessionId);
      expect(after.slice(0, seen.length)).toEqual(seen);
      expect(results(after).map(({ tool_use_id }) => tool_use_id)).toEqual(calls.map(({ id }) => id));
      const { results: replayed } = await next.client.execute(sessionId, calls);
      expect(replayed).toEqual(results(after).map(({ tool_result }) => tool_result));
      await health.assertHealthy(server);
    }
  });

  it('leaves no process behind', async () => {
    const server = await startServer();
    const marker = `crash-${server.pid}`;
    await batchInFlight(server, bash('echo done'));
    const client = wireClient(server);
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const stream = await client.stream(sessionId);
    stream.send({ type: 'tool_use', tool_use: bash(`echo ${marker}; setsid sleep 61 & sleep 61`) });
    await stream.next('progress');
    const owned = await until(() => {
      const found = processesIn(server.workspace);
      return Promise.resolve(found.length > 0 && found);
    });
    await crash(server);
    await until(() => Promise.resolve(processesIn(server.workspace).every((pid) => !owned.includes(pid))));
  });

  it('lets a client resume exactly where it was', async () => {
    const server = await startServer();
    const { sessionId, before } = await batchInFlight(server);
    const seen = before();
    const { client } = await crash(server);
    const stream = await client.stream(sessionId, { from_seq: seen.at(-1)?.seq });
    expect(await stream.next('welcome')).toMatchObject({ resumed: true });
    await stream.next('live');
    const rest = stream.frames.filter(isLogged);
    expect(rest[0]?.seq).toBe((seen.at(-1)?.seq ?? 0) + 1);
    expect(statuses([...seen, ...rest])).toEqual(['ok', 'interrupted', 'interrupted']);
    await stream.close();
  });

  it('keeps its sessions, their permissions and their spilled results', async () => {
    const server = await startServer();
    const dead = wireClient(server);
    const sessionId = await dead.session({ rules: { allow: ['Bash(touch:*)'] }, title: 'Kept' });
    await dead.post(`/sessions/${sessionId}/permissions`, { updates: [{ type: 'setMode', mode: 'acceptEdits' }] });
    const { calls } = await dead.execute(sessionId, [bash('seq 1 20000')]);
    const before = (await dead.get(`/sessions/${sessionId}`)).body;
    const { client } = await crash(server);
    const { head: _head, ...kept } = before;
    expect((await client.get(`/sessions/${sessionId}`)).body).toMatchObject(kept);
    expect((await client.get(`/sessions/${sessionId}/permissions`)).body).toMatchObject({
      version: 2,
      mode: 'acceptEdits',
    });
    const { body } = await client.get(`${calls[0]?.spilled?.url}?limit_chars=10`);
    expect(body).toMatchObject({ total_chars: calls[0]?.spilled?.chars });
    const read = block('Read', { file_path: calls[0]?.spilled?.path, limit: 2 });
    expect((await client.execute(sessionId, [read])).calls[0]).toMatchObject({ status: 'ok' });
  });
});

describe('a turn that was open', () => {
  const blockOf = (frame: ClientSideFrame) => (frame['tool_use'] as { id: string }).id;

  it('is gone on with by its feeder, and ends once more with all its calls', async () => {
    const server = await startServer();
    const { sessionId, calls } = await batchInFlight(server);
    const { client } = await crash(server);
    const stream = await client.stream(sessionId, { from_seq: 0 });
    await stream.next('turn_end');
    const later = bash('echo later');
    stream.send({ type: 'tool_use', turn_id: 't', tool_use: later });
    await stream.next(({ type, tool_use_id }) => type === 'result' && tool_use_id === later.id);
    stream.send({ type: 'turn_end', turn_id: 't' });
    const ids = [...calls.map(({ id }) => id), later.id];
    const last = await stream.next(
      ({ type, calls: of }) => type === 'turn_end' && (of as readonly object[]).length === ids.length,
    );
    expect(last).toMatchObject({
      turn_id: 't',
      calls: ids.map((tool_use_id) => ({ tool_use_id })),
    });
    expect(stream.frames.filter(({ type }) => type === 'tool_use').map(blockOf)).toEqual(ids);
    stream.send({ type: 'tool_use', turn_id: 't', tool_use: bash('echo too late') });
    expect(await stream.next('error')).toMatchObject({ code: 'conflict', details: { reason: 'turn_ended' } });
    await stream.close();
  });

  it('ends with its last call where it waited for an answer and nobody feeds it', async () => {
    const server = await startServer();
    const dead = wireClient(server);
    const sessionId = await dead.session();
    const stream = await dead.stream(sessionId);
    stream.send({ type: 'tool_use', turn_id: 't', tool_use: bash('touch asked') });
    const { request_id } = await stream.next('permission_request');
    const { client } = await crash(server);
    const again = await client.stream(sessionId);
    await again.next('live');
    await client.post(`/sessions/${sessionId}/prompts/${String(request_id)}`, { behavior: 'allow' });
    expect(await again.next('turn_end')).toMatchObject({ turn_id: 't', calls: [{ status: 'ok' }] });
    await again.close();
  });

  it('is over where its feeder had closed it, or nobody had held it open', async () => {
    const server = await startServer();
    const client = wireClient(server);
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const stream = await client.stream(sessionId);
    stream.send({ type: 'tool_use', turn_id: 'fed', tool_use: bash('sleep 60') });
    stream.send({ type: 'turn_end', turn_id: 'fed' });
    await stream.next('turn_closed');
    void client.execute(sessionId, [bash('sleep 60')], { turn_id: 'posted' }).catch(() => undefined);
    await stream.next(({ type, turn_id }) => type === 'tool_use' && turn_id === 'posted');
    const next = (await crash(server)).client;
    const again = await next.stream(sessionId, { from_seq: 0 });
    for (const turn_id of ['fed', 'posted']) {
      again.send({ type: 'tool_use', turn_id, tool_use: bash('echo on') });
      expect(
        await again.next(
          ({ type, details }) => type === 'error' && (details as { turn_id?: string }).turn_id === turn_id,
        ),
      ).toMatchObject({ code: 'conflict' });
    }
    await again.close();
  });
});

describe('a question that was open', () => {
  /** A turn in which nothing has begun but a question, with a call queued behind it. */
  async function standing(server: BuiltServer) {
    const client = wireClient(server);
    const sessionId = await client.session();
    const stream = await client.stream(sessionId);
    const calls = [bash('touch asked'), bash('touch behind')];
    for (const tool_use of calls) stream.send({ type: 'tool_use', turn_id: 't', tool_use });
    stream.send({ type: 'turn_end', turn_id: 't' });
    const { seq: _seq, ts: _ts, ...question } = await stream.next('permission_request');
    await stream.next(({ type, tool_use }) => type === 'tool_use' && (tool_use as { id: string }).id === calls[1]?.id);
    return { sessionId, calls, question, requestId: String(question['request_id']) };
  }

  it('stands after the restart as it was, listed and in the welcome', async () => {
    const server = await startServer();
    const { sessionId, question } = await standing(server);
    const { client } = await crash(server);
    const { body } = await client.get(`/sessions/${sessionId}/prompts`);
    expect(body.prompts).toEqual([question]);
    const stream = await client.stream(sessionId);
    expect((await stream.next('welcome'))['pending']).toEqual([question]);
    expect(results(await client.frames(sessionId))).toEqual([]);
    await stream.close();
  });

  it('starts its call when it is answered, and what was queued behind follows', async () => {
    const server = await startServer();
    const { sessionId, requestId, calls } = await standing(server);
    const { client } = await crash(server);
    const updated_permissions = [{ type: 'addRules', behavior: 'allow', rules: ['Bash(touch:*)'] }];
    const path = `/sessions/${sessionId}/prompts/${requestId}`;
    expect((await client.post(path, { behavior: 'allow', updated_permissions })).status).toBe(200);
    const frames = await until(async () => {
      const seen = await client.frames(sessionId);
      return seen.some(({ type }) => type === 'turn_end') && seen;
    });
    expect(statuses(frames)).toEqual(['ok', 'ok']);
    expect(results(frames).map(({ tool_use_id }) => tool_use_id)).toEqual(calls.map(({ id }) => id));
    for (const name of ['asked', 'behind']) expect(existsSync(join(server.workspace, name))).toBe(true);
  });

  it('that wants a second yes gets a place of its own in the log for the first one', async () => {
    const server = await startServer({ settings: { approvals: { twoPerson: ['Bash(touch:*)'] } } });
    const { sessionId, requestId } = await standing(server);
    const { client } = await crash(server);
    const answered = await client.post(`/sessions/${sessionId}/prompts/${requestId}`, { behavior: 'allow' });
    expect(answered.body).toMatchObject({ behavior: 'allow', pending: true });
    const frames = await client.frames(sessionId);
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, index) => index + 1));
    expect(frames.at(-1)).toMatchObject({ type: 'permission_request', approvals: { by: ['owner'] } });
  });

  it('survives two crashes, and a no denies it once', async () => {
    const server = await startServer();
    const { sessionId, requestId } = await standing(server);
    const second = await crash(server);
    await second.client.get(`/sessions/${sessionId}/prompts`);
    const { client } = await crash(second.server);
    expect((await client.post(`/sessions/${sessionId}/prompts/${requestId}`, { behavior: 'deny' })).status).toBe(200);
    expect((await client.post(`/sessions/${sessionId}/prompts/${requestId}`, { behavior: 'allow' })).status).toBe(409);
    const denied = await until(async () => results(await client.frames(sessionId))[0]);
    expect(denied).toMatchObject({ call: { status: 'denied' } });
    expect(existsSync(join(server.workspace, 'asked'))).toBe(false);
  });

  it('whose time ended meanwhile is denied', async () => {
    const server = await startServer();
    const client = wireClient(server);
    const sessionId = await client.session();
    const call = bash('touch late');
    const asked = { session_id: sessionId, tool_uses: [call], on_ask: 'wait', ask_timeout_ms: 300 };
    client.post('/execute', asked).catch(() => undefined);
    await until(async () => (await client.get(`/sessions/${sessionId}/prompts`)).body.prompts.length === 1);
    const next = await crash(server);
    const denied = await until(async () => results(await next.client.frames(sessionId))[0]);
    expect(denied).toMatchObject({ tool_use_id: call.id, call: { status: 'denied' } });
    expect(existsSync(join(server.workspace, 'late'))).toBe(false);
  });
});

/** Processes whose working directory is `folder`, the server's own left out. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      return environment.includes(`PWD=${folder}\0`) && environment.includes('GAUNTLET_CALL_ID=');
    } catch {
      // It ended while we looked.
      return false;
    }
  });
}
