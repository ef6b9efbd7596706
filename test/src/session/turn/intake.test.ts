/** Blocks come in, once, all or none, also when the disk refuses. */
import { afterAll, describe, expect, it } from 'vitest';
import { MAX_SESSION_CALLS } from '../../../../src/session/turn/acceptance.ts';
import type { Tool } from '../../../../src/tool/tool.ts';
import type { Limits } from '../../../../config/limits.ts';
import { SessionDirectory } from '../../../../src/session/directory/session-directory.ts';
import { effectTool, noteTool, slowTool } from '../../../helpers/fake-tools.ts';
import { afterMicrotasks } from '../../../helpers/fake-call.ts';
import { MemoryLog } from '../../../helpers/memory-log.ts';
import { blockOf, execute, frameWhere, sessionServices } from '../../../helpers/session-services.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const folder = temporaryFolder();
const directories: SessionDirectory[] = [];
afterAll(() => Promise.all(directories.map((directory) => directory.close())));

async function newSession(tools: readonly Tool[], limits: Partial<Limits> = {}) {
  const log = new MemoryLog();
  const directory = new SessionDirectory(sessionServices(log, tools, { folder, limits }));
  directories.push(directory);
  return { log, session: await directory.create('owner', { mode: 'bypassPermissions' }) };
}

describe('a submission', () => {
  it('with one id twice is refused whole', async () => {
    const { tool, effects } = effectTool();
    const { session } = await newSession([tool]);
    const blocks = [blockOf('Effect', 'a'), blockOf('Effect', 'a')];
    await expect(execute(session, blocks)).rejects.toMatchObject({
      code: 'invalid_request',
      details: { reason: 'duplicate_id' },
    });
    expect(effects).toEqual([]);
  });

  it('with one block in conflict runs none of the others', async () => {
    const { tool, effects } = effectTool();
    const { session } = await newSession([tool]);
    await execute(session, [blockOf('Effect', 'a')]);
    await expect(execute(session, [blockOf('Effect', 'b'), blockOf('Effect', 'a', 'changed')])).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(effects).toEqual(['a']);
  });

  it('joins a call that runs, in another turn, and is ended with it', async () => {
    const slow = slowTool();
    const { session } = await newSession([slow.tool]);
    const first = execute(session, [blockOf('Slow', 'a')], 'one');
    await slow.isRunning('a');
    const second = execute(session, [blockOf('Slow', 'a')], 'two');
    await afterMicrotasks();
    slow.end('a');
    expect((await second).calls).toMatchObject([{ tool_use_id: 'a', status: 'ok', replayed: true }]);
    expect((await second).results).toEqual((await first).results);
    const end = await frameWhere(session, (frame) => frame.type === 'turn_end' && frame.turn_id === 'two');
    expect(end).toMatchObject({ calls: [{ tool_use_id: 'a', replayed: true }] });
  });

  it('past the limit of waiting calls is turned away', async () => {
    const slow = slowTool();
    const { session } = await newSession([slow.tool]);
    const blocks = Array.from({ length: MAX_SESSION_CALLS }, (_, index) => blockOf('Slow', `s${index}`));
    void execute(session, blocks).catch(() => undefined);
    await slow.isRunning('s0');
    await expect(execute(session, [blockOf('Slow', 'c')])).rejects.toMatchObject({ code: 'overloaded' });
    session.cancel();
  });
});

describe('a submission that the disk refuses', () => {
  it('never was: nothing ran, and the same turn may be sent again', async () => {
    const { tool, effects } = effectTool();
    const { log, session } = await newSession([tool]);
    log.refusals = 1;
    await expect(execute(session, [blockOf('Effect', 'a')], 'turn')).rejects.toMatchObject({ code: 'log_unavailable' });
    expect([effects, session.running()]).toEqual([[], []]);
    const again = await execute(session, [blockOf('Effect', 'a')], 'turn');
    expect(again.calls).toMatchObject([{ status: 'ok' }]);
    expect(again.calls[0]?.replayed).toBeUndefined();
    expect(effects).toEqual(['a']);
  });

  it('fails for whoever joined it as well', async () => {
    const { log, session } = await newSession([noteTool()]);
    log.refusals = 1;
    const both = await Promise.allSettled([
      execute(session, [blockOf('Note', 'a')]),
      execute(session, [blockOf('Note', 'a')]),
    ]);
    expect(both).toMatchObject([{ reason: { code: 'log_unavailable' } }, { reason: { code: 'log_unavailable' } }]);
    expect((await execute(session, [blockOf('Note', 'a')])).calls[0]?.status).toBe('ok');
  });

  it('leaves no frame of it in the log', async () => {
    const { log, session } = await newSession([noteTool()]);
    log.refusals = 1;
    await execute(session, [blockOf('Note', 'a')]).catch(() => undefined);
    await execute(session, [blockOf('Note', 'b')]);
    const ids = log.frames(session.id).flatMap((frame) => ('tool_use_id' in frame ? [frame.tool_use_id] : []));
    expect(new Set(ids)).toEqual(new Set(['b']));
  });
});

describe('a result that the disk refuses', () => {
  it('is tried again, and reaches whoever waits', async () => {
    const slow = slowTool();
    const { log, session } = await newSession([slow.tool]);
    const reply = execute(session, [blockOf('Slow', 'a')]);
    await frameWhere(session, ({ type }) => type === 'started');
    log.refusals = 1;
    slow.end('a');
    expect((await reply).calls[0]?.status).toBe('ok');
    const types = log.frames(session.id).map(({ type }) => type);
    expect(types.filter((type) => type === 'result' || type === 'turn_end')).toEqual(['result', 'turn_end']);
  });
});

describe('a call with effects', () => {
  it('does not begin before the log has its beginning', async () => {
    const { tool, effects } = effectTool();
    const { log, session } = await newSession([tool]);
    const release = log.hold();
    const reply = execute(session, [blockOf('Effect', 'a')]);
    await afterMicrotasks();
    await afterMicrotasks();
    expect(effects).toEqual([]);
    release();
    expect((await reply).calls[0]?.status).toBe('ok');
    expect(effects).toEqual(['a']);
  });
});

describe('permissions that the disk refuses', () => {
  it('are as they were', async () => {
    const { log, session } = await newSession([noteTool()]);
    log.refusals = 1;
    await expect(session.updatePermissions([{ type: 'setMode', mode: 'plan' }])).rejects.toMatchObject({
      code: 'log_unavailable',
    });
    expect(session.permissions()).toMatchObject({ version: 1, mode: 'bypassPermissions' });
  });
});
