/** PROTOCOL 5: every frame that is sent has the fields that `/openapi.json` describes, and no others. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { describedApi, type DescribedApi } from '../helpers/described-api.ts';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import type { ClientSideFrame } from '../helpers/stream-client.ts';
import { block, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;
let described: DescribedApi;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('frames'));
  described = await describedApi(client);
});

function expectDescribed(frames: readonly ClientSideFrame[]): void {
  const wrong = frames.flatMap((frame) => {
    const faults = described.frameFaults(frame);
    return Array.isArray(faults) && faults.length === 0 ? [] : [{ frame, faults }];
  });
  expect(wrong).toEqual([]);
}

function typesOf(frames: readonly ClientSideFrame[]): readonly string[] {
  return [...new Set(frames.map(({ type }) => type))].sort();
}

/** Every frame that a session sends in an ordinary life, over one WebSocket. */
async function liveThrough(sessionId: string): Promise<readonly ClientSideFrame[]> {
  const stream = await client.stream(sessionId, { from_seq: 0 });
  const ended = (turn: string) =>
    stream.next(({ type, turn_id }) => (type === 'turn_end' || type === 'turn_closed') && turn_id === turn);
  const write = block('Write', { file_path: 'new.txt', content: 'one\n' });
  stream.send({ type: 'tool_use', turn_id: 'asked', tool_use: { ...write, caller: { type: 'direct' } } });
  const { request_id } = await stream.next('permission_request');
  const updated_permissions = [{ type: 'setMode', mode: 'bypassPermissions' }];
  stream.send({ type: 'permission_answer', request_id, behavior: 'allow', updated_permissions });
  await stream.next('result');
  stream.send({ type: 'turn_end', turn_id: 'asked' });
  await ended('asked');
  stream.send({ type: 'tool_use', tool_use: write });
  await stream.next('replay');

  const input = JSON.stringify({ command: 'echo one; until test -e go; do sleep 0.02; done; echo two; exit 3' });
  const events = [
    { type: 'message_start', message: { id: 'm' } },
    { type: 'content_block_start', index: 0, content_block: { ...block('Bash', {}), input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: input } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_stop' },
  ];
  for (const event of events) stream.send({ type: 'stream_event', turn_id: 'streamed', event });
  await stream.next('progress');
  await stream.next('turn_closed');
  writeFileSync(join(folder, 'go'), '');
  await stream.next(({ type, turn_id }) => type === 'turn_end' && turn_id === 'streamed');

  const background = block('Bash', { command: 'echo three', run_in_background: true });
  stream.send({ type: 'tool_use', turn_id: 'task', tool_use: background });
  await stream.next('task_ended');
  const wrong = block('Edit', { file_path: 'new.txt', old_string: 'two', new_string: 'three' });
  const calls = [
    wrong,
    block('Nothing', {}),
    block('Grep', { pattern: 'one' }),
    block('Bash', { command: 'seq 20000' }),
  ];
  for (const call of calls) stream.send({ type: 'tool_use', turn_id: 'task', tool_use: call });
  stream.send({ type: 'turn_end', turn_id: 'task' });
  await stream.next(({ type, turn_id }) => type === 'turn_end' && turn_id === 'task');
  await client.post(`/sessions/${sessionId}/undo`, { tool_use_id: write.id });
  await stream.next('undo');

  stream.send({ type: 'interrupt' });
  stream.send({ type: 'cancel', callId: 'x' });
  stream.send({ type: 'tool_use', tool_use: block('Bash', {}, 'no id') });
  stream.send({ type: 'ping', t: { any: 1 } });
  for (const type of ['notice', 'error', 'pong']) await stream.next(type);
  await client.send('DELETE', `/sessions/${sessionId}`);
  await stream.next('bye');
  await stream.closed;
  return stream.frames;
}

/** All but `tools_changed`, which a change of MCP servers sends, and `gap`, which a slow reader gets. */
const SEEN = [
  ...['bye', 'change', 'context', 'error', 'input_partial', 'live', 'notice', 'opened', 'permission_request'],
  ...['permission_resolved', 'pong', 'progress', 'replay', 'result', 'started', 'state', 'task_ended', 'task_output'],
  ...['task_started', 'tool_use', 'turn_closed', 'turn_end', 'undo', 'welcome'],
];

describe('every frame fits its description', () => {
  it('over the WebSocket', async () => {
    const frames = await liveThrough(await client.session({ cwd: folder, title: 'Frames' }));
    expectDescribed(frames);
    expect(typesOf(frames)).toEqual(SEEN);
  });

  it.each(['application/x-ndjson', 'text/event-stream'])('in a reply of type %s', async (accept) => {
    const frames: ClientSideFrame[] = [];
    const tool_uses = [block('Bash', { command: 'echo one' }), block('Glob', { pattern: '*' })];
    for await (const frame of client.streamed({ tool_uses }, accept)) frames.push(frame);
    expectDescribed(frames);
    expect(typesOf(frames)).toContain('turn_end');
  });

  it('in pages of events', async () => {
    const sessionId = await client.session({ cwd: folder, mode: 'bypassPermissions', tools: ['Bash', 'Write'] });
    await client.execute(sessionId, [block('Write', { file_path: 'page.txt', content: '' }), block('Bash', {})]);
    const frames = await client.frames(sessionId);
    expectDescribed(frames);
    expect(typesOf(frames)).toContain('change');
  });
});

describe('the description', () => {
  it('names the schema of each type of frame', () => {
    const { schemas } = described.api.components;
    const typesIn = (union: string) => Object.keys(schemas[union]?.discriminator?.mapping ?? {});
    expect([...typesIn('Frame'), ...typesIn('ControlFrame')].sort()).toEqual([...SEEN, 'gap', 'tools_changed'].sort());
  });

  it('refuses a frame with a field that it does not have', () => {
    const frame = { seq: 1, ts: '2026-01-01T00:00:00.000Z', type: 'turn_closed', turn_id: 't' };
    expect(described.frameFaults(frame)).toEqual([]);
    expect(described.frameFaults({ ...frame, surprise: 1 })).toMatchObject([{ keyword: 'additionalProperties' }]);
  });
});
