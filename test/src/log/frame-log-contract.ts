/**
 * What every frame log must hold, whatever stands behind it.
 */
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Seq } from '../../../src/wire/frames.ts';
import type { FrameLog, LoggedFrame } from '../../../src/log/frame-log.ts';
import type { LogGap } from '../../../src/wire/session-replies.ts';
import { noticeFrame, noticeFrames, openedFrame } from '../../helpers/new-frames.ts';

/** How the suite gets at the log it judges. */
export interface LogUnderTest {
  /** A log of its own, empty, with a small page and a small memory, so that both are crossed. */
  open(): Promise<FrameLog>;
  /** The same log again, after `close`. */
  reopen(closed: FrameLog): Promise<FrameLog>;
}

/** Frames a page holds at most in the logs under test. */
export const CONTRACT_PAGE = 4;

/** Run the suite. */
export function frameLogContract(title: string, subject: LogUnderTest): void {
  const logs: FrameLog[] = [];
  afterAll(() => Promise.all(logs.map((log) => log.close())));

  async function openLog(): Promise<FrameLog> {
    const log = await subject.open();
    logs.push(log);
    return log;
  }

  describe(`${title}, appending`, () => {
    it('numbers frames from 1 on without holes', async () => {
      const log = await openLog();
      expect(await log.append('s', 0, [openedFrame('s'), ...noticeFrames(2)])).toBe(3);
      expect(await log.append('s', 3, noticeFrames(2))).toBe(5);
      expect(log.bounds('s')).toEqual({ first: 1, head: 5 });
      expect((await framesOf(log, 's')).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    });

    it('fences whoever does not know the head', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s')]);
      for (const after of [0, 2]) {
        await expect(log.append('s', after, noticeFrames(1))).rejects.toMatchObject({ code: 'fenced' });
      }
      await expect(log.append('unknown', 1, noticeFrames(1))).rejects.toMatchObject({ code: 'fenced' });
      expect(log.bounds('s')?.head).toBe(1);
    });

    it('lets one of two rivals in', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s')]);
      const rivals = await Promise.allSettled([
        log.append('s', 1, noticeFrames(1)),
        log.append('s', 1, noticeFrames(1)),
      ]);
      expect(rivals.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });

    it('takes appends that follow each other before the first has landed', async () => {
      const log = await openLog();
      const heads = [
        log.append('s', 0, [openedFrame('s')]),
        log.append('s', 1, noticeFrames(2)),
        log.append('s', 3, noticeFrames(1)),
      ];
      expect(await Promise.all(heads)).toEqual([1, 3, 4]);
    });

    it('does not count a frame before it has landed', async () => {
      const log = await openLog();
      const landing = log.append('s', 0, [openedFrame('s')]);
      expect(log.bounds('s')).toBeUndefined();
      await landing;
      expect(log.bounds('s')).toEqual({ first: 1, head: 1 });
    });

    it('refuses a first frame that opens nothing, and no frames at all', async () => {
      const log = await openLog();
      await expect(log.append('s', 0, noticeFrames(1))).rejects.toThrow(TypeError);
      await expect(log.append('s', 0, [])).rejects.toThrow(RangeError);
      expect(log.find('s')).toBeUndefined();
    });

    it('keeps what was said to the character', async () => {
      const log = await openLog();
      const message = 'line\nbreak \u0000 "quote" \u2028 é 漢 😀 \ud800';
      await log.append('s', 0, [openedFrame('s'), noticeFrame(message)]);
      const [, inMemory] = await framesOf(log, 's');
      await log.close();
      const again = await subject.reopen(log);
      logs.push(again);
      const [, fromDisk] = await framesOf(again, 's');
      expect(fromDisk?.text).toBe(inMemory?.text);
      expect(inMemory?.frame).toEqual(JSON.parse(inMemory?.text ?? ''));
      expect(fromDisk?.frame).toMatchObject({ seq: 2, type: 'notice', message });
    });
  });

  describe(`${title}, reading`, () => {
    it('gives pages that are full but for the last', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s'), ...noticeFrames(9)]);
      const sizes = (await pagesOf(log, 's', 0)).map((page) => page.length);
      expect(sizes).toEqual([CONTRACT_PAGE, CONTRACT_PAGE, 2]);
    });

    it('begins in the middle of an append', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s'), ...noticeFrames(9)]);
      expect((await framesOf(log, 's', 6)).map(({ seq }) => seq)).toEqual([7, 8, 9, 10]);
    });

    it('ends at once at the head and beyond it, and where there is no session', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s')]);
      expect(await framesOf(log, 's', 1)).toEqual([]);
      expect(await framesOf(log, 's', 7)).toEqual([]);
      expect(await framesOf(log, 'unknown')).toEqual([]);
    });

    it('goes on with what is appended later', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s')]);
      const reader = readLive(log, 's', 1);
      const next = reader.pages.next();
      await log.append('s', 1, noticeFrames(2));
      expect((await next).value?.map((frame: LoggedFrame) => frame.seq)).toEqual([2, 3]);
      reader.stop();
    });

    it('wakes many readers of one session', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s')]);
      const readers = Array.from({ length: 200 }, () => readLive(log, 's', 1));
      const firsts = readers.map((reader) => reader.pages.next());
      await log.append('s', 1, noticeFrames(1));
      for (const first of await Promise.all(firsts)) expect(first.value?.[0]?.seq).toBe(2);
      for (const reader of readers) reader.stop();
    });

    it('ends without an error when its signal says so', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s')]);
      const reader = readLive(log, 's', 1);
      const next = reader.pages.next();
      reader.stop();
      expect(await next).toEqual({ done: true, value: undefined });
    });

    it('ends when the log closes', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s')]);
      const next = readLive(log, 's', 1).pages.next();
      await log.close();
      expect((await next).done).toBe(true);
    });

    it('gives every reader every frame once and in order', async () => {
      const log = await openLog();
      let sessions = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(9), { minLength: 1, maxLength: 12 }),
          fc.array(fc.nat(30), { maxLength: 5 }),
          async (sizes, starts) => {
            const id = `model-${++sessions}`;
            let head = await log.append(id, 0, [openedFrame(id)]);
            const total = 1 + sizes.length + sizes.reduce((sum, size) => sum + size, 0);
            const seen = starts.map((start) => readUntil(log, id, start % total, total));
            for (const size of sizes) head = await log.append(id, head, noticeFrames(size + 1));
            const late = readUntil(log, id, 0, total);
            for (const [index, seqs] of (await Promise.all([...seen, late])).entries()) {
              const start = (starts[index] ?? 0) % total;
              expect(seqs).toEqual(Array.from({ length: total - start }, (_, offset) => start + offset + 1));
            }
          },
        ),
        { numRuns: 60 },
      );
    });
  });

  describe(`${title}, sessions`, () => {
    it('lists the newest of one principal first, page by page', async () => {
      const log = await openLog();
      for (const id of ['a', 'b', 'c', 'd']) await log.append(id, 0, [openedFrame(id, id === 'b' ? 'other' : 'me')]);
      const newest = log.list('me', { limit: 2 });
      expect(newest.sessions.map(({ sessionId }) => sessionId)).toEqual(['d', 'c']);
      const older = log.list('me', { limit: 2, cursor: newest.cursor });
      expect(older.sessions.map(({ sessionId }) => sessionId)).toEqual(['a']);
      expect(older.cursor).toBeUndefined();
    });

    it('goes on with a list although the last session of its page was removed', async () => {
      const log = await openLog();
      for (const id of ['a', 'b', 'c']) await log.append(id, 0, [openedFrame(id, 'me')]);
      const { cursor } = log.list('me', { limit: 2 });
      await log.remove('b');
      expect(log.list('me', { limit: 2, cursor }).sessions).toMatchObject([{ sessionId: 'a' }]);
      expect(() => log.list('me', { limit: 2, cursor: 'not one' })).toThrow(
        expect.objectContaining({ code: 'invalid_request' }),
      );
    });

    it('finds a session and what it began with', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s', 'me'), ...noticeFrames(2)]);
      const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
      expect(log.find('s')).toEqual({ sessionId: 's', principal: 'me', createdAt, bounds: { first: 1, head: 3 } });
      expect(log.lastAt('s')).toEqual(createdAt);
      expect(log.lastAt('unknown')).toBeUndefined();
      expect(log.find('unknown')).toBeUndefined();
    });

    it('forgets a removed one and ends its readers', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s')]);
      const next = readLive(log, 's', 1).pages.next();
      await log.remove('s');
      expect((await next).done).toBe(true);
      expect([log.find('s'), log.bounds('s'), log.list('local', { limit: 9 }).sessions]).toEqual([
        undefined,
        undefined,
        [],
      ]);
      await expect(log.append('s', 1, noticeFrames(1))).rejects.toMatchObject({ code: 'fenced' });
      await log.remove('s');
    });

    it('may begin again under the name of a removed one', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s'), ...noticeFrames(7)]);
      await log.remove('s');
      expect(await log.append('s', 0, [openedFrame('s')])).toBe(1);
      expect((await framesOf(log, 's')).map(({ type }) => type)).toEqual(['opened']);
    });
  });

  describe(`${title}, notes`, () => {
    const snapshotOf = (log: FrameLog) => log.find('s')?.snapshot;

    it('keeps facts and the snapshot that stands for most, over a restart too', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s', 'me'), ...noticeFrames(2)]);
      await log.save('s', { snapshot: { seq: 3, state: { at: 'three' } }, facts: [['a', 1]] });
      await log.save('s', { snapshot: { seq: 2, state: { at: 'two' } }, facts: [['a', [2]]] });
      await log.close();
      const again = await subject.reopen(log);
      logs.push(again);
      expect(snapshotOf(again)).toEqual({ seq: 3, state: { at: 'three' } });
      expect(again.list('me', { limit: 1 }).sessions[0]?.snapshot?.seq).toBe(3);
      expect([again.fact('s', 'a'), again.fact('s', 'b'), again.fact('t', 'a')]).toEqual([[2], undefined, undefined]);
    });

    it('forgets them with their session', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s')]);
      await log.save('s', { snapshot: { seq: 1, state: {} }, facts: [['a', 1]] });
      await log.remove('s');
      await log.append('s', 0, [openedFrame('s')]);
      expect([snapshotOf(log), log.fact('s', 'a')]).toEqual([undefined, undefined]);
      await log.save('unknown', { facts: [['a', 1]] });
    });
  });

  describe(`${title}, retention`, () => {
    const future = '9999-01-01T00:00:00.000Z';

    async function oldSession(log: FrameLog, snapshotSeq: Seq): Promise<void> {
      await log.append('s', 0, [openedFrame('s')]);
      for (let head = 1; head < 8; head++) await log.append('s', head, noticeFrames(1));
      await log.save('s', { snapshot: { seq: snapshotSeq, state: {} } });
    }

    it('takes the oldest frames a snapshot stands for, and readers are told', async () => {
      const log = await openLog();
      await oldSession(log, 5);
      await log.trim('s', { olderThan: future, bytes: 0 });
      expect(log.bounds('s')).toEqual({ first: 6, head: 8 });
      const gaps: LogGap[] = [];
      const seqs = [];
      for await (const page of log.read('s', 2, { live: false, onGap: (gap) => gaps.push(gap) }))
        seqs.push(...page.map(({ seq }) => seq));
      expect([seqs, gaps]).toEqual([[6, 7, 8], [{ from: 3, to: 5, reason: 'retention' }]]);
    });

    it('keeps what no snapshot stands for, and always the last row', async () => {
      const log = await openLog();
      await oldSession(log, 8);
      await log.trim('s', { olderThan: future, bytes: 0 });
      expect(log.bounds('s')).toEqual({ first: 8, head: 8 });
      await log.append('t', 0, [openedFrame('t'), ...noticeFrames(2)]);
      await log.trim('t', { olderThan: future, bytes: 1_000_000 });
      expect(log.bounds('t')).toEqual({ first: 1, head: 3 });
      expect(await log.append('s', 8, noticeFrames(1))).toBe(9);
    });

    it('takes what is older than asked, or as much as weighs enough', async () => {
      const log = await openLog();
      await oldSession(log, 7);
      await log.trim('s', { olderThan: '2000-01-01T00:00:00.000Z', bytes: 0 });
      expect(log.bounds('s')?.first).toBe(1);
      await log.trim('s', { olderThan: '', bytes: 1 });
      expect(log.bounds('s')?.first).toBe(2);
    });

    it('counts its sessions', async () => {
      const log = await openLog();
      for (const id of ['s', 't', 'u']) await log.append(id, 0, [openedFrame(id)]);
      await log.remove('t');
      expect(log.sessionCount()).toBe(2);
    });

    it('tells how old and how heavy each session is', async () => {
      const log = await openLog();
      await oldSession(log, 7);
      await log.append('t', 0, [openedFrame('t')]);
      const { sessions, cursor } = log.weigh({ limit: 1 });
      const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
      expect(sessions).toMatchObject([
        { sessionId: 's', bounds: { first: 1, head: 8 }, snapshotSeq: 7, oldest: time, newest: time },
      ]);
      expect(sessions[0]?.bytes).toBeGreaterThan(8 * 60);
      const [other] = log.weigh({ limit: 9, cursor }).sessions;
      expect(other).toMatchObject({ sessionId: 't', snapshotSeq: 0, bytes: 0 });
      expect(log.usedBytes()).toBeGreaterThan(0);
    });
  });

  describe(`${title}, closing`, () => {
    it('takes nothing more', async () => {
      const log = await openLog();
      await log.append('s', 0, [openedFrame('s')]);
      await log.close();
      await expect(log.append('s', 1, noticeFrames(1))).rejects.toMatchObject({ code: 'shutting_down' });
      await log.close();
    });

    it('lands what was on its way, and keeps history and epoch', async () => {
      const log = await openLog();
      const landing = log.append('s', 0, [openedFrame('s'), ...noticeFrames(2)]);
      await log.close();
      expect(await landing).toBe(3);
      const again = await subject.reopen(log);
      logs.push(again);
      expect(again.epoch).toBe(log.epoch);
      expect(again.epoch).not.toContain('.');
      expect(again.bounds('s')).toEqual({ first: 1, head: 3 });
      expect(await again.append('s', 3, noticeFrames(1))).toBe(4);
    });
  });
}

async function pagesOf(log: FrameLog, sessionId: string, after: Seq): Promise<(readonly LoggedFrame[])[]> {
  const pages = [];
  for await (const page of log.read(sessionId, after, { live: false })) pages.push(page);
  return pages;
}

async function framesOf(log: FrameLog, sessionId: string, after: Seq = 0): Promise<LoggedFrame[]> {
  return (await pagesOf(log, sessionId, after)).flat();
}

function readLive(log: FrameLog, sessionId: string, after: Seq) {
  const controller = new AbortController();
  const pages = log.read(sessionId, after, { live: true, signal: controller.signal })[Symbol.asyncIterator]();
  return { pages, stop: () => controller.abort() };
}

/** The seqs a live reader is given until it has seen `last`. */
async function readUntil(log: FrameLog, sessionId: string, after: Seq, last: Seq): Promise<Seq[]> {
  const seqs: Seq[] = [];
  const { signal } = new AbortController();
  if (after === last) return seqs;
  for await (const page of log.read(sessionId, after, { live: true, signal })) {
    seqs.push(...page.map(({ seq }) => seq));
    if (seqs.at(-1) === last) return seqs;
  }
  return seqs;
}
