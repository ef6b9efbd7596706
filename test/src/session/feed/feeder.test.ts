/** One connection's way of feeding turns. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Limits } from '../../../../config/limits.ts';
import type { Tool } from '../../../../src/tool/tool.ts';
import type { ReplayFrame } from '../../../../src/wire/control-frames.ts';
import { SessionDirectory } from '../../../../src/session/directory/session-directory.ts';
import { failingShell, noteTool, slowTool } from '../../../helpers/fake-tools.ts';
import { MemoryLog } from '../../../helpers/memory-log.ts';
import { blockOf, framesOf, frameWhere, sessionServices } from '../../../helpers/session-services.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const folder = temporaryFolder();
const directories: SessionDirectory[] = [];
afterAll(() => Promise.all(directories.map((directory) => directory.close())));

async function connection(tools: readonly Tool[] = [noteTool()], limits: Partial<Limits> = {}) {
  const log = new MemoryLog();
  const directory = new SessionDirectory(sessionServices(log, tools, { folder, limits }));
  directories.push(directory);
  const session = await directory.create('owner', {});
  const sent: ReplayFrame[] = [];
  const feeder = session.feeder((frame) => sent.push(frame));
  const event = (value: object, turnId?: string) => feeder.streamEvent(turnId, value);
  const open = (index: number, id: string, name = 'Note') =>
    event({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } });
  const piece = (index: number, partial_json: string) =>
    event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } });
  const ended = (turnId?: string) =>
    frameWhere(session, (frame) => frame.type === 'turn_end' && (!turnId || frame.turn_id === turnId));
  return { log, session, feeder, sent, event, open, piece, ended };
}

describe('streamed events', () => {
  it('start a call when its block closes, not when the message ends', async () => {
    const { session, event, open, piece, ended } = await connection();
    await event({ type: 'message_start' });
    await open(0, 'a');
    await piece(0, '{"text":"hi"}');
    await event({ type: 'content_block_stop', index: 0 });
    const result = await frameWhere(session, ({ type }) => type === 'result');
    expect(result).toMatchObject({ tool_use_id: 'a', call: { status: 'ok' } });
    expect((await framesOf(session)).some(({ type }) => type === 'turn_end')).toBe(false);
    await event({ type: 'message_stop' });
    expect(await ended()).toMatchObject({ calls: [{ tool_use_id: 'a' }] });
  });

  it('show what has come of an input, the first piece at once', async () => {
    const { session, event, open } = await connection();
    await event({ type: 'message_start' });
    await open(0, 'a');
    expect(await frameWhere(session, ({ type }) => type === 'input_partial')).toMatchObject({
      tool_use_id: 'a',
      index: 0,
      partial_input: {},
      name: 'Note',
    });
  });

  it('give a broken input its InputValidationError and let the others go on', async () => {
    const { event, open, piece, ended } = await connection();
    await event({ type: 'message_start' });
    await open(0, 'broken');
    await piece(0, '{"text":');
    await event({ type: 'content_block_stop', index: 0 });
    await open(1, 'fine');
    await event({ type: 'content_block_stop', index: 1 });
    await event({ type: 'message_stop' });
    expect(await ended()).toMatchObject({ calls: [{ error_code: 'invalid_input' }, { status: 'ok' }] });
  });

  it('of two messages that stream in at once stay in their turns', async () => {
    const { session, event, ended } = await connection();
    const each = async (make: (id: string) => object) => {
      for (const turn of ['one', 'two']) await event(make(turn), turn);
    };
    await each(() => ({ type: 'message_start' }));
    await each((id) => ({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id, name: 'Note' },
    }));
    const piece = (text: string) => ({ type: 'input_json_delta', partial_json: `{"text":"${text}"}` });
    await each((id) => ({ type: 'content_block_delta', index: 0, delta: piece(id) }));
    await each(() => ({ type: 'content_block_stop', index: 0 }));
    await each(() => ({ type: 'message_stop' }));
    await Promise.all([ended('one'), ended('two')]);
    const blocks = (await framesOf(session)).flatMap((frame) =>
      frame.type === 'tool_use' ? [[frame.turn_id, frame.tool_use.input]] : [],
    );
    expect(blocks).toEqual([
      ['one', { text: 'one' }],
      ['two', { text: 'two' }],
    ]);
  });

  it('that name no turn stay together when a block for another turn comes between', async () => {
    const { feeder, event, open, piece, ended } = await connection();
    await event({ type: 'message_start' });
    await open(0, 'a');
    await feeder.toolUse('other', blockOf('Note', 'b'));
    await piece(0, '{"text":"hi"}');
    await event({ type: 'content_block_stop', index: 0 });
    await event({ type: 'message_stop' });
    expect(await ended()).toMatchObject({ calls: [{ tool_use_id: 'a', status: 'ok' }] });
  });

  it('begin a new turn with each message, and open none for a stop alone', async () => {
    const { session, event, ended } = await connection();
    await event({ type: 'message_stop' });
    for (const turn of ['one', 'two']) {
      await event({ type: 'message_start' }, turn);
      await event({ type: 'message_stop' }, turn);
      await ended(turn);
    }
    expect((await framesOf(session)).filter(({ type }) => type === 'turn_end')).toHaveLength(2);
  });

  it('of a block for a turn that has ended are a conflict and show nothing', async () => {
    const { session, feeder, event } = await connection();
    await feeder.toolUse('t', blockOf('Note', 'a'));
    feeder.endTurn('t');
    await event(
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'b', name: 'Note' } },
      't',
    );
    await expect(event({ type: 'content_block_stop', index: 0 }, 't')).rejects.toMatchObject({ code: 'conflict' });
    expect((await framesOf(session)).some(({ type }) => type === 'input_partial')).toBe(false);
  });
});

describe('finished blocks', () => {
  it('without a turn id belong to the open turn of their connection', async () => {
    const { session, feeder } = await connection();
    await feeder.toolUse(undefined, blockOf('Note', 'a'));
    await feeder.toolUse(undefined, blockOf('Note', 'b'));
    const frames = (await framesOf(session)).flatMap((frame) =>
      frame.type === 'tool_use' ? [[frame.turn_id, frame.index]] : [],
    );
    expect(frames).toEqual([
      [frames[0]?.[0], 0],
      [frames[0]?.[0], 1],
    ]);
  });

  it('that are known get their stored result, and do not run again', async () => {
    const { session, feeder, sent } = await connection();
    await feeder.toolUse('t', blockOf('Note', 'a'));
    await frameWhere(session, ({ type }) => type === 'result');
    await feeder.toolUse(undefined, blockOf('Note', 'a'));
    expect(sent).toMatchObject([{ type: 'replay', tool_use_id: 'a', call: { replayed: true, status: 'ok' } }]);
    await expect(feeder.toolUse(undefined, blockOf('Note', 'a', 'other'))).rejects.toMatchObject({ code: 'conflict' });
  });

  it('that arrive after a sibling failed end with it', async () => {
    const { session, feeder } = await connection([noteTool(), failingShell()]);
    await feeder.toolUse('t', blockOf('Shell', 'a'));
    await frameWhere(session, ({ type }) => type === 'result');
    await feeder.toolUse('t', blockOf('Note', 'b'));
    const result = await frameWhere(session, (frame) => frame.type === 'result' && frame.tool_use_id === 'b');
    expect(result).toMatchObject({ call: { error_code: 'sibling_aborted' } });
  });

  it('go on in the same turn after the disk refused one', async () => {
    const { log, session, feeder, ended } = await connection();
    log.refusals = 1;
    await expect(feeder.toolUse('t', blockOf('Note', 'a'))).rejects.toMatchObject({ code: 'log_unavailable' });
    await feeder.toolUse(undefined, blockOf('Note', 'b'));
    feeder.endTurn('t');
    expect(await ended('t')).toMatchObject({ calls: [{ tool_use_id: 'b' }] });
    expect(session.running()).toEqual([]);
  });
});

describe('a discarded turn', () => {
  it('gives each call without a result an empty one, and ends', async () => {
    const slow = slowTool();
    const { session, feeder, ended } = await connection([slow.tool]);
    await feeder.toolUse('t', blockOf('Slow', 'a'));
    await slow.isRunning('a');
    feeder.discard('t');
    expect(await ended('t')).toMatchObject({
      calls: [{ status: 'cancelled', error_code: 'discarded', result_chars: 0 }],
    });
    const results = (await framesOf(session)).filter(({ type }) => type === 'result');
    expect(results).toMatchObject([{ tool_result: { content: '' } }]);
  });
});

describe('a connection that is gone', () => {
  it('ends its open turns after a while', async () => {
    const { feeder, ended } = await connection([noteTool()], { turnFeederMs: 10 });
    await feeder.toolUse('t', blockOf('Note', 'a'));
    feeder.close();
    expect(await ended('t')).toMatchObject({ calls: [{ tool_use_id: 'a' }] });
  });

  it('does not end a turn that another connection feeds by then', async () => {
    const { session, feeder } = await connection([noteTool()], { turnFeederMs: 10 });
    await feeder.toolUse('t', blockOf('Note', 'a'));
    await feeder.toolUse('u', blockOf('Note', 'b'));
    feeder.close();
    const other = session.feeder(() => undefined);
    await other.toolUse('t', blockOf('Note', 'c'));
    await frameWhere(session, (frame) => frame.type === 'turn_end' && frame.turn_id === 'u');
    await other.toolUse('t', blockOf('Note', 'd'));
    expect((await framesOf(session)).filter(({ type }) => type === 'turn_end')).toHaveLength(1);
  });
});
