/** PROTOCOL 4: a reply as it happens, cancelled, or left alone. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ClientSideFrame } from '../helpers/stream-client.ts';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, until, type WireBody, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('streamed'));
});

const open = () => client.session({ cwd: folder, mode: 'bypassPermissions' });
const bash = (command: string) => block('Bash', { command });

async function all(frames: AsyncIterable<ClientSideFrame>): Promise<ClientSideFrame[]> {
  const seen: ClientSideFrame[] = [];
  for await (const frame of frames) seen.push(frame);
  return seen;
}

/** Resolves when `count` calls execute. */
const running = (sessionId: string, count = 1) =>
  until(async () => {
    const states = (await client.frames(sessionId)).filter(({ state }) => state === 'executing');
    return states.length >= count;
  });

describe.each(['application/x-ndjson', 'text/event-stream'])('a reply as %s', (accept) => {
  it('is the frames of the turn as the log has them, ending with turn_end', async () => {
    const session_id = await open();
    const tool_uses = [bash('echo a; sleep 0.15; echo b'), block('Nothing', {})];
    const seen = await all(client.streamed({ session_id, tool_uses }, accept));
    expect(seen.at(-1)).toMatchObject({ type: 'turn_end', calls: [{ status: 'ok' }, { status: 'error' }] });
    const log = (await client.frames(session_id)).filter(({ seq }) => seen.some((frame) => frame.seq === seq));
    expect(seen.filter(({ seq }) => seq !== undefined)).toEqual(log);
    const kinds = new Set(seen.map(({ type }) => type));
    for (const kind of ['tool_use', 'state', 'progress', 'result']) expect(kinds).toContain(kind);
    expect(seen.filter(({ type }) => type === 'result').map(({ index }) => index)).toEqual([0, 1]);
  });

  it('is of its own turn only', async () => {
    const session_id = await open();
    const turns = ['turn-a', 'turn-b'].map((turn_id) =>
      all(client.streamed({ session_id, turn_id, tool_uses: [bash(`echo ${turn_id}; sleep 0.1`)] }, accept)),
    );
    const [first, second] = await Promise.all(turns);
    for (const { turn_id } of (first ?? []).filter((frame) => 'turn_id' in frame)) expect(turn_id).toBe('turn-a');
    for (const { turn_id } of (second ?? []).filter((frame) => 'turn_id' in frame)) expect(turn_id).toBe('turn-b');
    expect(first?.filter(({ type }) => type === 'progress')).toHaveLength(1);
  });

  it('shows progress before the result is there', async () => {
    const session_id = await open();
    const tool_uses = [bash('echo early; until [ -e go-on ]; do sleep 0.02; done; rm go-on')];
    for await (const { type, data } of client.streamed({ session_id, tool_uses }, accept)) {
      if (type !== 'progress') continue;
      expect(data).toMatchObject({ type: 'bash', stream: 'stdout', text: 'early\n' });
      await client.execute(await open(), [bash('touch go-on')]);
    }
  });

  it('gives a known id as its stored result', async () => {
    const session_id = await open();
    const call = bash('echo once');
    await client.execute(session_id, [call]);
    const seen = await all(client.streamed({ session_id, tool_uses: [call] }, accept));
    expect(JSON.stringify(seen)).toContain('"content":"once"');
    expect(seen.at(-1)).toMatchObject({ type: 'turn_end', calls: [{ tool_use_id: call.id, replayed: true }] });
  });
});

describe('a wrong request', () => {
  it('is refused before the stream begins', async () => {
    for (const accept of ['application/x-ndjson', 'text/event-stream']) {
      const { status, body } = await client.post('/execute', { tool_uses: [] }, { headers: { accept } });
      expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_request' });
    }
  });
});

describe('cancel', () => {
  it('ends one call, at once, and the others go on', async () => {
    const session_id = await open();
    const [slow, other] = [block('Sleep', { duration_ms: 60_000 }), block('Sleep', { duration_ms: 200 })];
    const reply = client.execute(session_id, [slow, other]);
    await running(session_id, 2);
    expect((await client.post(`/sessions/${session_id}/cancel`, { tool_use_id: slow.id })).body).toEqual({
      cancelled: [slow.id],
    });
    expect((await reply).calls).toMatchObject([{ status: 'cancelled', error_code: 'cancelled' }, { status: 'ok' }]);
  });

  it('ends a turn, what is queued too, and all when nothing is named', async () => {
    const session_id = await open();
    const batch = () => [bash('touch here; sleep 60'), bash('touch never')];
    for (const named of [{ turn_id: 'turn-1' }, {}]) {
      const turn_id = named.turn_id ?? 'turn-2';
      const calls = batch();
      const reply = client.execute(session_id, calls, { turn_id });
      await until(async () =>
        (await client.frames(session_id)).some(
          ({ tool_use_id, state }) => tool_use_id === calls[0]?.id && state === 'executing',
        ),
      );
      const { body } = await client.post(`/sessions/${session_id}/cancel`, named);
      expect(new Set(body['cancelled'] as string[])).toEqual(new Set(calls.map(({ id }) => id)));
      for (const call of (await reply).calls)
        expect(call).toMatchObject({ status: 'cancelled', error_code: 'cancelled' });
    }
    expect(existsSync(join(folder, 'never'))).toBe(false);
  });

  it('of what does not run cancels nothing', async () => {
    const session_id = await open();
    expect((await client.post(`/sessions/${session_id}/cancel`, {})).body).toEqual({ cancelled: [] });
    expect([200, 404]).toContain((await client.post(`/sessions/${session_id}/cancel`, { tool_use_id: 'none' })).status);
    expect((await client.post(`/sessions/${session_id}/cancel`, { tool_use_id: 7 })).status).toBe(400);
  });
});

describe('a client that goes away', () => {
  /** Post a batch, and go when it runs. */
  async function leave(options: object, accept: string) {
    const session_id = await open();
    const call = block('Sleep', { duration_ms: 250 });
    const gone = new AbortController();
    const body = { session_id, tool_uses: [call], ...options };
    const init = { headers: { accept }, signal: gone.signal };
    const reply = client.post('/execute', body, init).catch((error: unknown) => error);
    await running(session_id);
    gone.abort();
    await reply;
    const result = () => client.frames(session_id).then((frames) => frames.find(({ type }) => type === 'result'));
    return { session_id, call, result: await until(result) };
  }

  it.each(['application/json', 'application/x-ndjson'])('leaves its turn running (%s)', async (accept) => {
    const { session_id, call, result } = await leave({}, accept);
    expect(result).toMatchObject({ call: { status: 'ok' } });
    const { body } = await client.get(`/sessions/${session_id}/results/${call.id}`);
    expect(body).toMatchObject({ text: expect.any(String) });
  });

  it.each(['application/json', 'application/x-ndjson'])('cancels it when it said so (%s)', async (accept) => {
    const { result } = await leave({ cancel_on_disconnect: true }, accept);
    expect(result).toMatchObject({ call: { status: 'cancelled', error_code: 'cancelled' } });
  });
});

describe('a batch in two sessions', () => {
  it('runs in both at once', async () => {
    const startedMs = performance.now();
    const slow = () => bash('touch x; sleep 0.4');
    const bodies: WireBody[] = await Promise.all([
      client.execute(await open(), [slow()]),
      client.execute(await open(), [slow()]),
      client.execute(await open(), [slow()]),
    ]);
    expect(performance.now() - startedMs).toBeLessThan(1_150);
    for (const { calls } of bodies) expect(calls[0]).toMatchObject({ status: 'ok' });
  });
});
