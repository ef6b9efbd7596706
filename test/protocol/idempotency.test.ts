/** PROTOCOL 4: one id runs once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('ids'));
});

const open = () => client.session({ cwd: folder, mode: 'bypassPermissions' });

describe('F31: an id that comes again', () => {
  it('runs once for fifty requests at the same time, and once more after', async () => {
    const sessionId = await open();
    const call = block('Bash', { command: 'echo ran >> runs; sleep 0.1; wc -l < runs' });
    const bodies = await Promise.all(Array.from({ length: 50 }, () => client.execute(sessionId, [call])));
    bodies.push(await client.execute(sessionId, [call]));
    expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('ran\n');
    for (const { results } of bodies) expect(results).toEqual(bodies[0]?.results);
    expect(bodies.filter(({ calls }) => calls[0]?.replayed !== true)).toHaveLength(1);
    expect((await client.frames(sessionId)).filter(({ type }) => type === 'result')).toHaveLength(1);
  });

  it('is the same input whatever the order of its keys', async () => {
    const sessionId = await open();
    await client.execute(sessionId, [block('Bash', { command: 'echo 1', timeout: 5_000 }, 'same')]);
    const { calls } = await client.execute(sessionId, [block('Bash', { timeout: 5_000, command: 'echo 1' }, 'same')]);
    expect(calls[0]).toMatchObject({ status: 'ok', replayed: true });
  });

  it('with another input or another tool is a conflict, and nothing of the batch runs', async () => {
    const sessionId = await open();
    await client.execute(sessionId, [block('Bash', { command: 'echo 1' }, 'taken')]);
    for (const other of [
      block('Bash', { command: 'echo 2' }, 'taken'),
      block('Sleep', { command: 'echo 1' }, 'taken'),
    ]) {
      const marker = block('Bash', { command: 'touch conflict' });
      const { status, body } = await client.post('/execute', { session_id: sessionId, tool_uses: [marker, other] });
      expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'conflict' });
    }
    const { results } = await client.execute(sessionId, [block('Bash', { command: 'ls' })]);
    expect(results[0]?.content).not.toContain('conflict');
  });

  it('gives the stored result whatever it was', async () => {
    const sessionId = await client.session({ cwd: folder, on_ask: 'deny' });
    for (const call of [
      block('Bash', { command: 'touch denied' }),
      block('Nothing', {}),
      block('Bash', { command: 7 }),
    ]) {
      const first = await client.execute(sessionId, [call]);
      const second = await client.execute(sessionId, [call]);
      expect(second.results).toEqual(first.results);
      expect(second.calls[0]).toMatchObject({ status: first.calls[0]?.status, replayed: true });
    }
  });

  it('beside a new one gives both, in block order', async () => {
    const sessionId = await open();
    const old = block('Bash', { command: 'echo old' });
    await client.execute(sessionId, [old]);
    const { results, calls } = await client.execute(sessionId, [block('Bash', { command: 'echo new' }), old]);
    expect(results.map(({ content }) => content)).toEqual(['new', 'old']);
    expect(calls.map(({ replayed }) => replayed === true)).toEqual([false, true]);
  });

  it('in one batch twice is refused, and nothing runs', async () => {
    const sessionId = await open();
    const call = block('Bash', { command: 'touch twice' }, 'twice');
    const { status, body } = await client.post('/execute', { session_id: sessionId, tool_uses: [call, call] });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_request', details: { reason: 'duplicate_id' } });
    expect((await client.frames(sessionId)).some(({ type }) => type === 'tool_use')).toBe(false);
  });

  it('in another session is another call', async () => {
    const call = block('Bash', { command: 'echo 1' }, 'shared');
    for (const sessionId of [await open(), await open()]) {
      expect((await client.execute(sessionId, [call])).calls[0]).not.toHaveProperty('replayed');
    }
  });

  it('comes over the stream as a replay frame, and a conflict as an error', async () => {
    const sessionId = await open();
    const call = block('Bash', { command: 'echo 1' });
    const { results } = await client.execute(sessionId, [call]);
    const stream = await client.stream(sessionId);
    stream.send({ type: 'tool_use', tool_use: call });
    const replay = await stream.next('replay');
    expect(replay).toMatchObject({ tool_use_id: call.id, tool_result: results[0], call: { status: 'ok' } });
    expect(replay).not.toHaveProperty('seq');
    stream.send({ type: 'tool_use', tool_use: { ...call, input: { command: 'echo 2' } } });
    expect(await stream.next('error')).toMatchObject({ code: 'conflict', tool_use_id: call.id });
    await stream.close();
  });
});
