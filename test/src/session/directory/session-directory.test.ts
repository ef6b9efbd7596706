/** Sessions end to end, over the real log. */
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../../../../config/limits.ts';
import { openSqliteLog } from '../../../../src/log/sqlite-log.ts';
import type { Tool } from '../../../../src/tool/tool.ts';
import { SessionDirectory } from '../../../../src/session/directory/session-directory.ts';
import { effectTool, failingShell, noteTool, rememberTool, slowTool } from '../../../helpers/fake-tools.ts';
import {
  blockOf,
  execute,
  frameWhere,
  framesOf,
  question,
  sessionServices,
} from '../../../helpers/session-services.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

function server(tools: readonly Tool[], folder = temporaryFolder(), limits: Partial<Limits> = {}) {
  const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, durability: 'process' });
  const services = sessionServices(log, tools, { folder, limits });
  const directory = new SessionDirectory(services);
  let isClosed = false;
  const stop = async () => {
    if (isClosed) return;
    isClosed = true;
    await directory.close();
    await log.close();
  };
  closers.push(stop);
  return { directory, log, folder, stop, services };
}

describe('a turn', () => {
  it('gives one result a block, in block order, and is closed by its end', async () => {
    const { directory } = server([noteTool()]);
    const session = await directory.create('owner', {});
    const reply = await execute(session, [blockOf('Note', 'a'), blockOf('Nothing', 'b'), blockOf('Note', 'c')]);
    expect(reply.results.map(({ tool_use_id }) => tool_use_id)).toEqual(['a', 'b', 'c']);
    expect(reply.calls.map(({ status, error_code }) => error_code ?? status)).toEqual(['ok', 'unknown_tool', 'ok']);
    const types = (await framesOf(session)).map(({ type }) => type);
    expect(types.at(-1)).toBe('turn_end');
  });

  it('runs in a session of its own with one row for all its first frames', async () => {
    const { directory } = server([noteTool()]);
    const session = directory.createForBatch('owner');
    const reply = await execute(session, [blockOf('Note', 'a')]);
    expect(reply.calls[0]?.status).toBe('ok');
    expect((await framesOf(session))[0]?.type).toBe('opened');
  });

  it('loses the siblings of a shell that failed, and says which command it was', async () => {
    const { directory } = server([noteTool(), failingShell()]);
    const session = await directory.create('owner', {});
    const { calls, results } = await execute(session, [blockOf('Shell', 'a', 'npm test'), blockOf('Note', 'b')]);
    expect(calls.map(({ error_code }) => error_code)).toEqual(['tool_failed', 'sibling_aborted']);
    expect(results[1]?.content).toContain('Shell(npm test)');
  });

  it('passes what one call changed on to the next, across turns and restarts', async () => {
    const first = server([rememberTool(), noteTool()]);
    const session = await first.directory.create('owner', {});
    await execute(session, [blockOf('Remember', 'a'), blockOf('Remember', 'b')]);
    expect(session.context.toolState).toEqual({ a: true, b: true });
    await first.stop();
    const again = await server([noteTool()], first.folder).directory.open('owner', session.id);
    expect(again.context.toolState).toEqual({ a: true, b: true });
  });

  it('spills what is too large and serves the whole text by range', async () => {
    const text = 'x'.repeat(9_000);
    const { directory } = server([
      noteTool({
        mapToolResultToToolResultBlockParam: (_, id) => ({ type: 'tool_result', tool_use_id: id, content: text }),
      }),
    ]);
    const session = await directory.create('owner', {});
    const { calls } = await execute(session, [blockOf('Note', 'big')]);
    expect(calls[0]?.spilled).toMatchObject({ chars: 9_000, url: `/sessions/${session.id}/results/big` });
    const page = await session.history.resultText('big', { offsetChars: 8_990, limitChars: 100 });
    expect(page).toEqual({ text: 'x'.repeat(10), total_chars: 9_000, offset_chars: 8_990 });
  });

  it('counts how long a call ran, not how long its result stood in line', async () => {
    const slow = slowTool();
    const { directory } = server([slow.tool, noteTool()]);
    const session = await directory.create('owner', {});
    const submitted = await session.submit({ blocks: [blockOf('Slow', 'first'), blockOf('Note', 'second')] });
    await frameWhere(
      session,
      (frame) => frame.type === 'state' && frame.tool_use_id === 'second' && frame.state === 'completed',
    );
    slow.end('first');
    const { calls } = await session.collect(submitted, AbortSignal.timeout(5_000));
    expect(calls[1]?.duration_ms).toBeLessThan(calls[0]?.duration_ms ?? 0);
  });
});

describe('a block that was sent before', () => {
  it('runs once however often it is posted at the same time', async () => {
    const { tool, effects } = effectTool();
    const { directory } = server([tool]);
    const session = await directory.create('owner', { rules: { allow: ['Effect'] } });
    const replies = await Promise.all(Array.from({ length: 50 }, () => execute(session, [blockOf('Effect', 'same')])));
    expect(effects).toEqual(['same']);
    expect(replies.filter(({ calls }) => calls[0]?.replayed)).toHaveLength(49);
  });

  it('gets its stored result while that is still on its way to the disk', async () => {
    const { directory } = server([noteTool()]);
    const session = await directory.create('owner', {});
    const block = blockOf('Note', 'same');
    const replies = [execute(session, [block])];
    // One joins after each step on the way from the tool to the disk.
    for (let step = 0; step < 40; step++) {
      await Promise.resolve();
      replies.push(execute(session, [block]));
    }
    const statuses = (await Promise.all(replies)).map(({ calls }) => calls[0]?.status);
    expect(new Set(statuses)).toEqual(new Set(['ok']));
  });

  it('is a conflict with another input, before and after a restart', async () => {
    const first = server([noteTool()]);
    const session = await first.directory.create('owner', {});
    await execute(session, [blockOf('Note', 'same', 'one')]);
    await expect(execute(session, [blockOf('Note', 'same', 'two')])).rejects.toMatchObject({ code: 'conflict' });
    await first.stop();
    const again = await server([noteTool()], first.folder).directory.open('owner', session.id);
    await expect(execute(again, [blockOf('Note', 'same', 'two')])).rejects.toMatchObject({ code: 'conflict' });
    expect((await execute(again, [blockOf('Note', 'same', 'one')])).calls[0]).toMatchObject({
      status: 'ok',
      replayed: true,
    });
  });

  it('gives the same reply when its whole turn is sent again', async () => {
    const { directory } = server([noteTool()]);
    const session = await directory.create('owner', {});
    const blocks = [blockOf('Note', 'a'), blockOf('Note', 'b')];
    const one = await execute(session, blocks, 'turn-1');
    const two = await execute(session, blocks, 'turn-1');
    expect(two.results).toEqual(one.results);
    await expect(execute(session, [blockOf('Note', 'c')], 'turn-1')).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('a crash', () => {
  it('interrupts every call without a result of a turn that had begun, once', async () => {
    const slow = slowTool();
    const first = server([slow.tool, noteTool()]);
    const session = await first.directory.create('owner', {});
    await session.submit({ turnId: 't', blocks: [blockOf('Slow', 'a'), blockOf('Note', 'b')] });
    await frameWhere(session, ({ type }) => type === 'started');
    await first.stop();

    const second = server([slow.tool, noteTool()], first.folder);
    const again = await second.directory.open('owner', session.id);
    const { calls } = await execute(again, [blockOf('Slow', 'a'), blockOf('Note', 'b')], 't');
    expect(calls.map(({ status, replayed }) => [status, replayed])).toEqual([
      ['interrupted', true],
      ['interrupted', true],
    ]);
    const { head } = again.bounds();
    await second.stop();
    const third = await server([noteTool()], first.folder).directory.open('owner', session.id);
    expect(third.bounds().head).toBe(head);
  });

  it('leaves open questions standing at once, and an answer starts their call and what queued behind', async () => {
    const before = effectTool();
    const first = server([before.tool, noteTool()]);
    const session = await first.directory.create('owner', {});
    await session.submit({ turnId: 't', blocks: [blockOf('Effect', 'a'), blockOf('Note', 'b')], onAsk: 'wait' });
    const asked = await question(session);
    await first.stop();

    const after = effectTool();
    const again = await server([after.tool, noteTool()], first.folder).directory.open('owner', session.id);
    expect(again.prompts().map(({ request_id }) => request_id)).toEqual([asked.request_id]);
    await again.answer(asked.request_id, { behavior: 'allow' }, 'owner');
    const { calls } = await execute(again, [blockOf('Effect', 'a'), blockOf('Note', 'b')], 't');
    expect(calls.map(({ status }) => status)).toEqual(['ok', 'ok']);
    expect([before.effects, after.effects]).toEqual([[], ['a']]);
    const questions = (await framesOf(again)).filter(({ type }) => type === 'permission_request');
    expect(questions).toHaveLength(1);
  });

  it('brings a session back to order for whoever reads it first', async () => {
    const slow = slowTool();
    const first = server([slow.tool]);
    const session = await first.directory.create('owner', {});
    await session.submit({ blocks: [blockOf('Slow', 'a')] });
    await frameWhere(session, ({ type }) => type === 'started');
    await first.stop();
    const frames = await framesOf(await server([slow.tool], first.folder).directory.open('owner', session.id));
    expect(frames.slice(-3).map(({ type }) => type)).toEqual(['opened', 'result', 'turn_end']);
  });
});

describe('a session', () => {
  it('is not there for anybody else', async () => {
    const first = server([noteTool()]);
    const session = await first.directory.create('owner', {});
    await expect(first.directory.open('stranger', session.id)).rejects.toMatchObject({ code: 'not_found' });
    await first.stop();
    const { directory } = server([noteTool()], first.folder);
    await expect(directory.open('stranger', session.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(directory.openCount).toBe(0);
  });

  it('is gone once removed, and what ran in it was stopped', async () => {
    const slow = slowTool();
    const { directory } = server([slow.tool]);
    const session = await directory.create('owner', {});
    const submitted = await session.submit({ blocks: [blockOf('Slow', 'a')] });
    await slow.isRunning('a');
    const reply = session.collect(submitted, AbortSignal.timeout(5_000));
    await directory.remove('owner', session.id);
    await expect(reply).rejects.toMatchObject({ code: 'gone' });
    await expect(directory.open('owner', session.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('leaves memory when too many are open, and comes back when it is asked for', async () => {
    const { directory } = server([noteTool()], temporaryFolder(), { openSessions: 2 });
    const sessions = [
      await directory.create('owner', {}),
      await directory.create('owner', {}),
      await directory.create('owner', {}),
    ];
    await directory.create('owner', {});
    expect(directory.openCount).toBe(2);
    const again = await directory.open('owner', sessions[0]?.id ?? '');
    expect((await execute(again, [blockOf('Note', 'a')])).calls[0]?.status).toBe('ok');
  });

  it('that is in use stays in memory', async () => {
    const slow = slowTool();
    const { directory } = server([slow.tool], temporaryFolder(), { openSessions: 1 });
    const busy = await directory.create('owner', {});
    const submitted = await busy.submit({ blocks: [blockOf('Slow', 'a')] });
    await slow.isRunning('a');
    await directory.create('owner', {});
    expect(await directory.open('owner', busy.id)).toBe(busy);
    slow.end('a');
    expect((await busy.collect(submitted, AbortSignal.timeout(5_000))).calls[0]?.status).toBe('ok');
  });

  it('is listed with those of its principal, newest first', async () => {
    const { directory } = server([noteTool()]);
    const ids = [(await directory.create('owner', { title: 'one' })).id, (await directory.create('owner', {})).id];
    await directory.create('other', {});
    const { sessions } = await directory.list('owner', { limit: 9 });
    expect(sessions.map(({ session_id }) => session_id)).toEqual(ids.toReversed());
  });
});

describe('shutting down', () => {
  it('waits for what runs, and for its result to be on disk', async () => {
    const slow = slowTool();
    const { directory } = server([slow.tool]);
    const session = await directory.create('owner', {});
    await session.submit({ blocks: [blockOf('Slow', 'a')] });
    await slow.isRunning('a');
    const drained = directory.drain(AbortSignal.timeout(5_000));
    slow.end('a');
    await drained;
    expect((await framesOf(session)).at(-1)?.type).toBe('turn_end');
  });

  it('interrupts what does not end in time, and starts nothing that waited behind it', async () => {
    const slow = slowTool('Slow', { isConcurrencySafe: () => false });
    const { directory } = server([slow.tool, noteTool()], temporaryFolder(), { drainMs: 30 });
    const session = await directory.create('owner', {});
    await session.submit({ blocks: [blockOf('Slow', 'a'), blockOf('Note', 'b')] });
    await slow.isRunning('a');
    await directory.drain(AbortSignal.timeout(5_000));
    const results = (await framesOf(session)).flatMap((frame) =>
      frame.type === 'result' ? [[frame.tool_use_id, frame.call.status]] : [],
    );
    expect(results).toEqual([['a', 'interrupted']]);
  });

  it('does not wait for a call that waits for an answer, nor for results behind it', async () => {
    const { tool } = effectTool('Effect', { isConcurrencySafe: () => true });
    const { directory } = server([tool, noteTool()]);
    const session = await directory.create('owner', {});
    await session.submit({ blocks: [blockOf('Effect', 'a'), blockOf('Note', 'b')], onAsk: 'wait' });
    await frameWhere(
      session,
      (frame) => frame.type === 'state' && frame.tool_use_id === 'b' && frame.state === 'completed',
    );
    await question(session);
    const beganMs = performance.now();
    await directory.drain(AbortSignal.timeout(5_000));
    expect(performance.now() - beganMs).toBeLessThan(1_000);
    expect(session.prompts()).toHaveLength(1);
  });
});

describe('permissions', () => {
  it('change for the next call, and are tried on the questions that wait', async () => {
    const { tool, effects } = effectTool();
    const { directory } = server([tool]);
    const session = await directory.create('owner', {});
    const waiting = session.submit({ blocks: [blockOf('Effect', 'a'), blockOf('Effect', 'b')], onAsk: 'wait' });
    const other = await (await waiting, session.submit({ blocks: [blockOf('Effect', 'c')], onAsk: 'wait' }));
    const asked = await question(session);
    await session.answer(
      asked.request_id,
      { behavior: 'allow', updatedPermissions: [{ type: 'addRules', behavior: 'allow', rules: ['Effect'] }] },
      'owner',
    );
    expect((await session.collect(other, AbortSignal.timeout(5_000))).calls[0]?.status).toBe('ok');
    expect([effects, session.permissions().version]).toEqual([['a', 'b', 'c'], 2]);
  });

  it('that cannot be made refuse the answer, and the question stands', async () => {
    const { tool } = effectTool();
    const { directory } = server([tool]);
    const session = await directory.create('owner', {});
    await session.submit({ blocks: [blockOf('Effect', 'a')], onAsk: 'wait' });
    const asked = await question(session);
    const updatedPermissions = [{ type: 'addRules', behavior: 'allow', rules: ['Not a (rule'] }] as const;
    await expect(
      session.answer(asked.request_id, { behavior: 'allow', updatedPermissions }, 'owner'),
    ).rejects.toMatchObject({ code: 'invalid_request' });
    expect(session.prompts()).toHaveLength(1);
    session.cancel();
  });
});

describe('cancelling', () => {
  it('ends one call, one turn, or all, and says which', async () => {
    const slow = slowTool();
    const { directory } = server([slow.tool]);
    const session = await directory.create('owner', {});
    await session.submit({ turnId: 't', blocks: ['a', 'b'].map((id) => blockOf('Slow', id)) });
    await session.submit({ turnId: 'u', blocks: ['c', 'd'].map((id) => blockOf('Slow', id)) });
    await slow.isRunning('d');
    expect(session.cancel({ toolUseId: 'a' })).toEqual(['a']);
    expect(session.cancel({ turnId: 't' })).toContain('b');
    expect(session.cancel()).toEqual(expect.arrayContaining(['c', 'd']));
    expect(() => session.cancel({ toolUseId: 'nobody' })).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect(() => session.cancel({ turnId: 'nobody' })).toThrow(expect.objectContaining({ code: 'not_found' }));
  });

  it('of a call that waits for an answer withdraws its question', async () => {
    const { tool, effects } = effectTool();
    const { directory } = server([tool]);
    const session = await directory.create('owner', {});
    await session.submit({ blocks: [blockOf('Effect', 'a')], onAsk: 'wait' });
    const asked = await question(session);
    session.cancel({ toolUseId: 'a' });
    await frameWhere(session, ({ type }) => type === 'turn_end');
    await expect(session.answer(asked.request_id, { behavior: 'allow' }, 'owner')).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(effects).toEqual([]);
  });
});
