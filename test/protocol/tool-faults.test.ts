/** F11, F12: a tool that throws wherever it can, or never ends, is an error of its call alone. */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { watchHealth } from '../helpers/health.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ZOD = createRequire(import.meta.url).resolve('zod');

/** Each throws, or worse, in one place. */
const PLUGIN = `
import { z } from '${ZOD}';
const fail = () => { throw new Error('thrown on purpose'); };
const never = () => new Promise(() => undefined);
const tool = (name, members) => ({
  name,
  prompt: 'A tool that fails',
  inputSchema: z.strictObject({}),
  call: async (_input, _context, _canUseTool, _message, onProgress) => {
    onProgress?.({ data: { type: 'status', message: 'on its way' } });
    return { data: 'done' };
  },
  ...members,
});
const inCall = (members) => ({ call: async (...given) => members(...given) });
export default [
  tool('Sync', { call: fail }),
  tool('Rejecting', inCall(fail)),
  tool('NoError', inCall(() => { throw undefined; })),
  tool('Odd', inCall(() => { throw { toString: fail, get message() { return fail(); } }; })),
  tool('Nothing', inCall(() => undefined)),
  tool('Mapping', { mapToolResultToToolResultBlockParam: fail }),
  tool('DrawingResult', { renderToolResultMessage: fail }),
  tool('Validating', { validateInput: fail }),
  tool('Permitting', { checkPermissions: fail }),
  tool('Naming', { paths: fail }),
  tool('Progressing', inCall((_input, _context, _canUseTool, _message, onProgress) => {
    onProgress({ data: { type: 'x', get text() { return fail(); } } });
    return { data: 'done' };
  })),
  tool('BadProgress', inCall((_input, _context, _canUseTool, _message, onProgress) => {
    for (const progress of [undefined, null, {}, { data: 1n }, { data: 'text' }]) onProgress(progress);
    return { data: 'done' };
  })),
  tool('Late', inCall(() => {
    setTimeout(fail, 5);
    setTimeout(() => void Promise.reject(new Error('late rejection')), 5);
    return { data: 'done' };
  })),
  tool('Listening', inCall((_input, { signal }) => {
    signal.addEventListener('abort', fail);
    return { data: 'done' };
  })),
  tool('DrawingUse', { renderToolUseMessage: fail }),
  tool('DrawingProgress', { renderToolUseProgressMessage: fail }),
  tool('DrawingError', { call: fail, renderToolUseErrorMessage: fail }),
  tool('Safe', { isConcurrencySafe: fail }),
  tool('ReadOnly', { isReadOnly: fail }),
  tool('Classifying', { toAutoClassifierInput: fail }),
  tool('Describing', { description: fail }),
  tool('Prompting', { prompt: fail }),
  tool('Enabling', { isEnabled: fail }),
  tool('Interrupting', { interruptBehavior: fail }),
  tool('Labelling', { userFacingName: fail }),
  tool('Summarising', { getToolUseSummary: fail, getActivityDescription: fail }),
  tool('Modifying', inCall(() => ({ data: 'done', contextModifier: fail }))),
  tool('Emptying', inCall(() => ({ data: 'done', contextModifier: () => ({}) }))),
  tool('Blanking', inCall(() => ({ data: 'done', contextModifier: () => undefined }))),
  tool('Bigint', inCall(() => ({ data: 'done', contextModifier: (context) => ({ ...context, toolState: { value: 1n } }) }))),
  tool('Aborting', inCall((_input, { abortTurn }) => { abortTurn(1n); return { data: 'done' }; })),
  tool('Notifying', inCall((_input, { notify }) => { notify('info', 'code', 1n); return { data: 'done' }; })),
  tool('Fine', {}),
  tool('Hung', { call: never, isConcurrencySafe: () => true }),
  tool('HungGate', { checkPermissions: never }),
  tool('HungValidation', { validateInput: never }),
  tool('Blocking', inCall(() => {
    const end = performance.now() + 1_500;
    while (performance.now() < end);
    return { data: 'done' };
  })),
];
`;

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  const home = serverHome();
  writeFileSync(join(home, 'data', 'faulty.mjs'), PLUGIN);
  const limits = { abandonMs: 300 };
  server = await startServer({ home, settings: { plugins: ['./faulty.mjs'], limits } });
  client = wireClient(server);
});

const open = (options: object = { mode: 'bypassPermissions' }) => client.session(options);

describe('F11: a tool that throws', () => {
  it.each([
    ...['Sync', 'Rejecting', 'NoError', 'Odd', 'Nothing', 'Mapping', 'DrawingResult', 'Validating'],
    ...['Labelling', 'Progressing', 'BadProgress', 'DrawingError', 'Modifying', 'Emptying', 'Blanking', 'Bigint'],
  ])('%s is an error of its call, and its sibling runs', async (name) => {
    const health = await watchHealth(server);
    const sessionId = await open();
    const { calls } = await client.execute(sessionId, [block(name, {}), block('Fine', {})]);
    expect(calls).toMatchObject([{ status: 'error', error_code: 'tool_failed' }, { status: 'ok' }]);
    expect((await client.get(`/sessions/${sessionId}/permissions`)).body).toMatchObject({ version: 1 });
    await health.assertHealthy();
  });

  it.each([
    ...['DrawingUse', 'DrawingProgress', 'Safe', 'Classifying', 'Describing', 'Prompting'],
    ...['Late', 'Listening', 'Interrupting', 'Summarising', 'Aborting'],
    'Notifying',
  ])('%s where its call does not need it runs all the same', async (name) => {
    const health = await watchHealth(server);
    const sessionId = await open();
    const { calls } = await client.execute(sessionId, [block(name, {})]);
    expect(calls).toMatchObject([{ status: 'ok' }]);
    expect((await client.execute(sessionId, [block('Fine', {})])).calls).toMatchObject([{ status: 'ok' }]);
    expect((await client.get(`/sessions/${sessionId}/permissions`)).body).toMatchObject({ version: 1 });
    await health.assertHealthy();
  });

  it.each(['Permitting', 'Naming', 'ReadOnly'])('%s in its gate is denied', async (name) => {
    const { calls } = await client.execute(await open(), [block(name, {}), block('Fine', {})]);
    expect(calls).toMatchObject([{ status: 'denied', error_code: 'permission_denied' }, { status: 'ok' }]);
  });

  it('Describing or Classifying can still be asked about', async () => {
    for (const name of ['Describing', 'Classifying', 'DrawingUse', 'Prompting']) {
      const { calls } = await client.execute(await open({ on_ask: 'deny' }), [block(name, {})]);
      expect(calls).toMatchObject([{ status: 'denied' }]);
    }
  });

  it('does not spoil the list of the others', async () => {
    for (const query of ['', '?schemas=full', '?format=full', '?format=table', '?format=mcp']) {
      const { status, text } = await client.get(`/tools${query}`);
      expect([query, status]).toEqual([query, 200]);
      expect(text).toContain('Fine');
    }
  });

  it('where nobody waits is named in the log', async () => {
    await client.execute(await open(), [block('Late', {})]);
    await until(() =>
      Promise.resolve(/thrown on purpose/.test(server.logged()) && /late rejection/.test(server.logged())),
    );
    expect(server.logged()).toContain('faulty.mjs');
  });
});

describe('a tool that never settles', () => {
  it.each(['Hung', 'HungGate', 'HungValidation'])(
    '%s is given up when it is cancelled, and frees its place',
    async (name) => {
      const health = await watchHealth(server);
      const sessionId = await open();
      const stream = await client.stream(sessionId, { from_seq: 0 });
      stream.send({ type: 'tool_use', turn_id: 't', tool_use: block(name, {}) });
      stream.send({ type: 'tool_use', turn_id: 'u', tool_use: block('Fine', {}) });
      await stream.next(({ type, state }) => type === 'state' && state === 'executing');
      stream.send({ type: 'cancel', turn_id: 't' });
      expect(await stream.next('result')).toMatchObject({ call: { status: 'cancelled', error_code: 'cancelled' } });
      expect(await stream.next(({ type, turn_id }) => type === 'result' && turn_id === 'u')).toMatchObject({
        call: { status: 'ok' },
      });
      await stream.close();
      await health.assertHealthy();
    },
  );
});

describe('F12: a tool that blocks the event loop', () => {
  it('is told of as event_loop_lag, and costs other clients nothing but time', async () => {
    const watcher = await client.stream(await open());
    await watcher.next('live');
    const late = client.stream(await open());
    const blocked = client.execute(await open(), [block('Blocking', {})]);
    expect((await blocked).calls).toMatchObject([{ status: 'ok' }]);
    expect((await (await late).next('live')).type).toBe('live');
    watcher.send({ type: 'ping', t: 1 });
    await watcher.next('pong');
    await until(() => Promise.resolve(/event_loop_lag/.test(server.logged())));
    expect((await client.get('/metrics')).text).toMatch(/^gauntlet_event_loop_lag\w* \d/m);
    for (const stream of [watcher, await late]) await stream.close();
  });
});
