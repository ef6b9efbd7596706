/** A session's end of the frame log. */
import { describe, expect, it } from 'vitest';
import type { NewFrame, Seq } from '../../../src/wire/frames.ts';
import { SessionLog } from '../../../src/session/session-log.ts';
import { afterMicrotasks } from '../../helpers/fake-call.ts';
import { MemoryLog } from '../../helpers/memory-log.ts';
import { noticeFrame, noticeFrames, openedFrame } from '../../helpers/new-frames.ts';

async function openLog() {
  const log = new MemoryLog();
  await log.append('s', 0, [openedFrame('s')]);
  const session = new SessionLog({ log }, 's', 1);
  const messages = () => log.frames('s').flatMap((frame) => (frame.type === 'notice' ? [frame.message] : []));
  const landed: (readonly [string, Seq])[] = [];
  const insist = (message: string, isWanted = () => true) =>
    session.insist([noticeFrame(message)], isWanted, (seq) => landed.push([message, seq]));
  return { log, session, messages, landed, insist };
}

/** Wait for a timer of the log to have done its work. */
async function until(isTrue: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 5_000;
  while (!isTrue() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('SessionLog', () => {
  it('puts all that one turn of the event loop emits into one row', async () => {
    const { log, session } = await openLog();
    session.tell(noticeFrame('a'));
    await Promise.resolve().then(() => session.tell(noticeFrame('b')));
    await session.emit(noticeFrame('c'));
    expect(log.rows.slice(1)).toEqual([['notice', 'notice', 'notice']]);
  });

  it('gives each emitter the number of its own first frame', async () => {
    const { session } = await openLog();
    const numbers = await Promise.all([session.emit(...noticeFrames(3)), session.emit(noticeFrame('next'))]);
    expect(numbers).toEqual([2, 5]);
  });

  it('sends a row before the one before it has landed', async () => {
    const { log, session, messages } = await openLog();
    const release = log.hold();
    const first = session.emit(noticeFrame('a'));
    await afterMicrotasks();
    const second = session.emit(noticeFrame('b'));
    await afterMicrotasks();
    expect([log.rows.length, session.head]).toEqual([3, 1]);
    release();
    expect(await Promise.all([first, second])).toEqual([2, 3]);
    expect(messages()).toEqual(['a', 'b']);
  });

  it('counts as its head only what is on disk, and says so in the same step', async () => {
    const { session } = await openLog();
    const heads: Seq[] = [];
    session.send({ frames: [noticeFrame('a')], landed: () => heads.push(session.head), refused: () => undefined });
    expect(session.head).toBe(1);
    await session.emit(noticeFrame('b'));
    expect(heads).toEqual([3]);
  });

  it('refuses to whoever waits what the disk refuses, and goes on behind it', async () => {
    const { log, session, messages } = await openLog();
    log.refusals = 1;
    await expect(session.emit(noticeFrame('lost'))).rejects.toMatchObject({ code: 'log_unavailable' });
    expect(await session.emit(noticeFrame('kept'))).toBe(2);
    expect(messages()).toEqual(['kept']);
  });

  it('does not take a row behind a refused one for a loss of the session', async () => {
    const { log, session } = await openLog();
    const release = log.hold();
    log.refusals = 1;
    const refused = session.emit(noticeFrame('a')).catch((error: unknown) => error);
    await afterMicrotasks();
    const behind = session.emit(noticeFrame('b')).catch((error: unknown) => error);
    await afterMicrotasks();
    release();
    expect([await refused, await behind]).toMatchObject([{ code: 'log_unavailable' }, { code: 'log_unavailable' }]);
    expect(session.isTakenOver).toBe(false);
    expect(await session.emit(noticeFrame('c'))).toBe(2);
  });

  it('tries what must not be lost again, in order, until the disk takes it', async () => {
    const { log, landed, insist, messages } = await openLog();
    log.refusals = 2;
    insist('one');
    await afterMicrotasks();
    insist('two');
    await until(() => landed.length === 2);
    expect(messages()).toEqual(['one', 'two']);
    expect(landed).toEqual([
      ['one', 2],
      ['two', 3],
    ]);
  });

  it('keeps the order of frames that were refused in different rows', async () => {
    const { log, landed, insist, messages } = await openLog();
    const release = log.hold();
    log.refusals = 1;
    insist('one');
    await afterMicrotasks();
    insist('two');
    await afterMicrotasks();
    release();
    await until(() => landed.length === 2);
    expect(messages()).toEqual(['one', 'two']);
  });

  it('lets go of what is no longer wanted', async () => {
    const { log, session, landed, insist, messages } = await openLog();
    log.refusals = 1;
    insist('unwanted', () => false);
    insist('wanted');
    await until(() => landed.length === 1);
    expect(messages()).toEqual(['wanted']);
    expect(session.isSettled).toBe(true);
  });

  it('does not hang when the log cannot even be read', async () => {
    const { log, session } = await openLog();
    log.refusals = 1;
    log.isBlind = true;
    await expect(session.emit(noticeFrame('a'))).rejects.toMatchObject({ code: 'log_unavailable' });
    await expect(session.emit(noticeFrame('b'))).rejects.toMatchObject({ code: 'log_unavailable' });
    log.isBlind = false;
    expect(await session.emit(noticeFrame('c'))).toBe(2);
  });

  it('appends nothing more once another process has appended', async () => {
    const { log, session } = await openLog();
    await log.append('s', 1, [noticeFrame('theirs')]);
    await expect(session.emit(noticeFrame('ours'))).rejects.toMatchObject({ code: 'fenced' });
    expect(session.isTakenOver).toBe(true);
    await expect(session.emit(noticeFrame('ours again'))).rejects.toMatchObject({ code: 'fenced' });
    expect(log.frames('s')).toHaveLength(2);
  });

  it('knows when nothing is on its way', async () => {
    const { session } = await openLog();
    const landing = session.emit({ type: 'notice', level: 'info', code: 'x', message: 'y' } satisfies NewFrame);
    expect(session.isSettled).toBe(false);
    await landing;
    expect(session.isSettled).toBe(true);
  });

  it('tries nothing again after it was closed', async () => {
    const { log, session, insist, messages } = await openLog();
    log.refusals = 1;
    insist('one');
    // Refused with it, in the same row: what follows runs before any timer can.
    await expect(session.emit(noticeFrame('refused'))).rejects.toMatchObject({ code: 'log_unavailable' });
    expect(session.isSettled).toBe(false);
    session.close();
    expect(session.isSettled).toBe(true);
    await expect(session.emit(noticeFrame('last words'))).resolves.toBe(2);
    expect(messages()).toEqual(['last words']);
  });
});
