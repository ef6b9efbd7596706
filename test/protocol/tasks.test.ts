/** Background tasks, as a client sees them: frames, a list, their output, a stop, and what a dead server leaves. */
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import type { ClientSideFrame } from '../helpers/stream-client.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const isTask = ({ type }: ClientSideFrame) => type.startsWith('task_');
const taskFrames = (frames: readonly ClientSideFrame[]) => frames.filter(isTask);
const textOf = (frames: readonly ClientSideFrame[]) =>
  frames.flatMap(({ type, text }) => (type === 'task_output' ? [String(text)] : [])).join('');

/** Start a command in the background. @returns The id of its task. */
async function begin(client: WireClient, sessionId: string, command: string, id?: string): Promise<string> {
  const { results } = await client.execute(sessionId, [block('Bash', { command, run_in_background: true }, id)]);
  const taskId = /bash_[0-9a-f]{8}/.exec(results[0]?.content ?? '')?.[0];
  if (taskId === undefined) throw new Error(`No task: ${results[0]?.content}`);
  return taskId;
}

const open = (client: WireClient) => client.session({ mode: 'bypassPermissions' });
const list = async (client: WireClient, sessionId: string) =>
  (await client.get(`/sessions/${sessionId}/tasks`)).body['tasks'] as readonly Record<string, unknown>[];

describe('a background task', () => {
  it('is followed over the WebSocket from its start to its end', async () => {
    const server = await startServer();
    const client = wireClient(server);
    const sessionId = await open(client);
    const stream = await client.stream(sessionId);
    const taskId = await begin(client, sessionId, 'echo one; until test -e go; do sleep 0.02; done; echo two; exit 3');
    await until(() => Promise.resolve(textOf(stream.frames) === 'one\n'));
    writeFileSync(join(server.workspace, 'go'), '');
    await stream.next('task_ended');
    const [started, ...rest] = taskFrames(stream.frames);
    expect(started).toMatchObject({ type: 'task_started', task_id: taskId, kind: 'bash' });
    expect(started?.['tool_use_id']).toEqual(stream.frames.find(({ type }) => type === 'started')?.['tool_use_id']);
    expect(textOf(rest)).toBe('one\ntwo\n');
    expect(rest.at(-1)).toMatchObject({ type: 'task_ended', task_id: taskId, status: 'failed', exit_code: 3 });
    // Durable before its call answers, in the order of the log.
    const seqOf = (type: string) => stream.frames.find((frame) => frame.type === type)?.seq ?? 0;
    expect(seqOf('task_started')).toBeLessThan(seqOf('result'));
    await stream.close();
  });

  it('is not sent to a viewer who wants no progress, but for its start and end', async () => {
    const server = await startServer();
    const client = wireClient(server);
    const sessionId = await open(client);
    const stream = await client.stream(sessionId, { progress: false });
    await begin(client, sessionId, 'echo one');
    await stream.next('task_ended');
    expect(taskFrames(stream.frames).map(({ type }) => type)).toEqual(['task_started', 'task_ended']);
    await stream.close();
  });

  it('is listed while it runs and when it has ended, and its output is read by range', async () => {
    const server = await startServer();
    const client = wireClient(server);
    const sessionId = await open(client);
    expect(await list(client, sessionId)).toEqual([]);
    const quick = await begin(client, sessionId, 'echo hello', 'toolu_quick');
    await until(async () => (await list(client, sessionId))[0]?.['state'] === 'completed');
    const slow = await begin(client, sessionId, 'sleep 60', 'toolu_slow');
    const tasks = await list(client, sessionId);
    expect(tasks).toEqual([
      {
        task_id: quick,
        tool_use_id: 'toolu_quick',
        kind: 'bash',
        description: 'echo hello',
        state: 'completed',
        started_at: expect.any(String),
        ended_at: expect.any(String),
        exit_code: 0,
      },
      {
        task_id: slow,
        tool_use_id: 'toolu_slow',
        kind: 'bash',
        description: 'sleep 60',
        state: 'running',
        started_at: expect.any(String),
      },
    ]);
    const range = `/sessions/${sessionId}/tasks/${quick}/output?offset_chars=1&limit_chars=3`;
    expect((await client.get(range)).body).toEqual({
      text: 'ell',
      total_chars: 6,
      offset_chars: 1,
      next_offset_chars: 4,
    });
    await client.send('DELETE', `/sessions/${sessionId}`);
  });

  it('is stopped by its principal, with everything it started', async () => {
    const server = await startServer();
    const client = wireClient(server);
    const sessionId = await open(client);
    const taskId = await begin(client, sessionId, 'touch begun; setsid sleep 60 & sleep 60');
    await until(() => Promise.resolve(existsSync(join(server.workspace, 'begun'))));
    const stop = () => client.post(`/sessions/${sessionId}/tasks/${taskId}/stop`);
    expect((await stop()).body).toMatchObject({ task_id: taskId, state: 'killed' });
    expect((await stop()).body).toMatchObject({ task_id: taskId, state: 'killed' });
    expect(taskFrames(await client.frames(sessionId)).at(-1)).toMatchObject({ type: 'task_ended', status: 'killed' });
    const { results } = await client.execute(sessionId, [block('TaskOutput', { task_id: taskId })]);
    expect(results[0]?.content).toContain('status: killed');
  });

  it('is waited for by TaskOutput, which shows what comes meanwhile', async () => {
    const server = await startServer();
    const client = wireClient(server);
    const sessionId = await open(client);
    const stream = await client.stream(sessionId);
    const taskId = await begin(client, sessionId, 'echo one; until test -e go; do sleep 0.02; done; echo two');
    stream.send({ type: 'tool_use', tool_use: block('TaskOutput', { task_id: taskId }, 'toolu_wait') });
    const shown = () =>
      stream.frames.flatMap(({ type, tool_use_id, data }) =>
        type === 'progress' && tool_use_id === 'toolu_wait' ? [(data as { text?: string }).text ?? ''] : [],
      );
    await until(() => Promise.resolve(shown().join('') === 'one\n'));
    writeFileSync(join(server.workspace, 'go'), '');
    const result = await stream.next(({ type, tool_use_id }) => type === 'result' && tool_use_id === 'toolu_wait');
    expect(JSON.stringify(result['tool_result'])).toContain('one\\ntwo');
    expect(shown().join('')).toBe('one\ntwo\n');
    await stream.close();
  });

  it('ends with its session', async () => {
    const server = await startServer();
    const client = wireClient(server);
    const sessionId = await open(client);
    await begin(client, sessionId, 'sleep 60');
    expect((await client.send('DELETE', `/sessions/${sessionId}`)).status).toBe(204);
    expect((await client.get(`/sessions/${sessionId}/tasks`)).status).toBe(404);
    expect(existsSync(join(server.dataFolder, 'sessions', sessionId))).toBe(false);
  });

  it('keeps its session in memory, and is known after the session slept', async () => {
    const server = await startServer({ settings: { limits: { idleSessionMs: 20 } } });
    const client = wireClient(server);
    const sessionId = await open(client);
    const taskId = await begin(client, sessionId, 'until test -e go; do sleep 0.02; done; echo done');
    const other = await client.session();
    const sessionsInMemory = async () =>
      /^gauntlet_sessions_open (\d+)$/m.exec((await client.get('/metrics')).text)?.[1];
    await until(async () => (await sessionsInMemory()) === '1');
    writeFileSync(join(server.workspace, 'go'), '');
    await until(async () => (await sessionsInMemory()) === '0');
    expect(await list(client, sessionId)).toMatchObject([{ task_id: taskId, state: 'completed', exit_code: 0 }]);
    const { results } = await client.execute(sessionId, [block('TaskOutput', { task_id: taskId })]);
    expect(results[0]?.content).toMatch(/status: completed[^]*output:\ndone$/);
    expect(other).not.toBe(sessionId);
  });
});

describe('a task that its server left', () => {
  async function running(server: BuiltServer) {
    const client = wireClient(server);
    const sessionId = await open(client);
    const first = await begin(client, sessionId, 'echo first');
    await until(async () => (await list(client, sessionId))[0]?.['state'] === 'completed');
    const taskId = await begin(client, sessionId, 'echo kept; touch begun; sleep 60');
    await until(() => Promise.resolve(existsSync(join(server.workspace, 'begun'))));
    await until(async () => textOf(await client.frames(sessionId)).endsWith('kept\n'));
    // The file is written beside the frames, a moment later where the machine is busy.
    const output = async () => (await client.get(`/sessions/${sessionId}/tasks/${taskId}/output`)).body['text'];
    await until(async () => (await output()) === 'kept\n');
    return { sessionId, first, taskId };
  }

  it('is told of after kill -9: once, as interrupted, with the output it wrote', async () => {
    const server = await startServer();
    const { sessionId, first, taskId } = await running(server);
    await server.end('SIGKILL');
    const next = await startServer({ home: server.home });
    const client = wireClient(next);
    expect(await list(client, sessionId)).toMatchObject([
      { task_id: first, state: 'completed', exit_code: 0 },
      { task_id: taskId, state: 'interrupted', ended_at: expect.any(String) },
    ]);
    const ends = async (at: WireClient) =>
      (await at.frames(sessionId)).filter(({ type, task_id }) => type === 'task_ended' && task_id === taskId);
    expect(await ends(client)).toMatchObject([{ status: 'interrupted', note: expect.stringContaining('stopped') }]);
    const { results, calls } = await client.execute(sessionId, [block('TaskOutput', { task_id: taskId })]);
    expect(calls[0]).toMatchObject({ status: 'ok' });
    expect(results[0]?.content).toMatch(/status: interrupted\nnote: The server stopped[^]*output:\nkept$/);
    expect((await client.get(`/sessions/${sessionId}/tasks/${taskId}/output`)).body).toMatchObject({ text: 'kept\n' });
    await next.end('SIGKILL');
    const third = wireClient(await startServer({ home: server.home }));
    expect(await list(third, sessionId)).toMatchObject([{ state: 'completed' }, { state: 'interrupted' }]);
    expect(await ends(third)).toHaveLength(1);
  });

  it('ends with its server in order, and its end is in the log', async () => {
    const server = await startServer();
    const { sessionId, taskId } = await running(server);
    const stream = await wireClient(server).stream(sessionId);
    expect(await server.end()).toMatchObject({ code: 0 });
    expect((await stream.closed).code).toBe(1001);
    expect(stream.frames.find(({ type }) => type === 'task_ended')).toMatchObject({
      task_id: taskId,
      status: 'interrupted',
    });
    const client = wireClient(await startServer({ home: server.home }));
    const frames = await client.frames(sessionId);
    expect(taskFrames(frames).filter(({ type }) => type === 'task_ended')).toHaveLength(2);
    expect(frames.filter(({ type }) => type === 'opened')).toHaveLength(1);
  });
});

describe('a task of somebody else', () => {
  it('is 404 by every route, as is one that is not there', async () => {
    const token = 'bob-token-0123456789abcdef';
    const tokenSha256 = createHash('sha256').update(token).digest('hex');
    const server = await startServer({ settings: { principals: [{ name: 'bob', tokenSha256, roots: ['.'] }] } });
    const client = wireClient(server);
    const sessionId = await open(client);
    const taskId = await begin(client, sessionId, 'sleep 60');
    const bob = wireClient({ ...server, token });
    const requests = (who: WireClient, id: string) => [
      who.get(`/sessions/${sessionId}/tasks/${id}/output`),
      who.post(`/sessions/${sessionId}/tasks/${id}/stop`),
    ];
    const foreign = [bob.get(`/sessions/${sessionId}/tasks`), ...requests(bob, taskId), ...requests(client, 'bash_no')];
    for (const reply of await Promise.all(foreign)) expect(reply.status).toBe(404);
    expect(await list(client, sessionId)).toMatchObject([{ task_id: taskId, state: 'running' }]);
    await client.send('DELETE', `/sessions/${sessionId}`);
  });
});
