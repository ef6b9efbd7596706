/** What the log makes of files that were damaged: gaps that are told, never a wrong frame. */
import Database from 'libsql';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FrameLog } from '../../../src/log/frame-log.ts';
import type { LogGap } from '../../../src/wire/session-replies.ts';
import { asAfterKill, crashedLog, framesOf, newFolder, openLog } from '../../helpers/log-folders.ts';
import { noticeFrames, openedFrame } from '../../helpers/new-frames.ts';

async function seqsOf(log: FrameLog, sessionId: string, onGap?: (gap: LogGap) => void): Promise<number[]> {
  return (await framesOf(log, sessionId, onGap)).map(({ frame }) => frame.seq);
}

describe('a damaged file', () => {
  const sessions = ['a', 'b', 'c'];

  async function closedLog(): Promise<{
    readonly folder: string;
    readonly lines: ReadonlyMap<string, readonly string[]>;
  }> {
    const folder = newFolder();
    const { log } = openLog(folder);
    const heads = await Promise.all(sessions.map((id) => log.append(id, 0, [openedFrame(id)])));
    for (let round = 0; round < 40; round++) {
      const appends = sessions.map((id, index) =>
        log.append(id, heads[index] ?? 0, noticeFrames(1 + (round % 3), 'x'.repeat(round * 20))),
      );
      for (const [index, append] of appends.entries()) heads[index] = await append;
    }
    const lines = new Map<string, readonly string[]>();
    for (const id of sessions)
      lines.set(
        id,
        (await framesOf(log, id)).map(({ text }) => text),
      );
    await log.close();
    return { folder, lines };
  }

  it('gives every frame as it was, or within a gap, or says that it cannot', async () => {
    const { folder, lines } = await closedLog();
    const whole = readFileSync(join(folder, 'log.db'));
    const seen = { frames: 0, gaps: 0, refusals: 0 };
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (offset, flip) => {
        const copy = asAfterKill(folder);
        const damaged = Buffer.from(whole);
        damaged[offset] = (damaged[offset] ?? 0) ^ flip;
        writeFileSync(join(copy, 'log.db'), damaged);
        const { log } = openLog(copy);
        for (const id of sessions) await account(log, id, lines.get(id) ?? [], seen);
        await log.close();
        rmSync(copy, { recursive: true });
      }),
      { numRuns: 80 },
    );
    expect(seen.frames).toBeGreaterThan(80 * 100);
    expect(seen.gaps).toBeGreaterThan(0);
  });

  async function account(
    log: FrameLog,
    id: string,
    lines: readonly string[],
    seen: Record<'frames' | 'gaps' | 'refusals', number>,
  ): Promise<void> {
    const gaps: LogGap[] = [];
    try {
      const frames = await framesOf(log, id, (gap) => gaps.push(gap));
      for (const { seq, text } of frames) expect(text).toBe(lines[seq - 1]);
      const missing = gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0);
      const { first, head } = log.bounds(id) ?? { first: 1, head: 0 };
      expect(first - 1 + frames.length + missing).toBe(head);
      seen.frames += frames.length;
      seen.gaps += gaps.length;
    } catch (error) {
      expect(error).toMatchObject({ code: 'log_unavailable' });
      seen.refusals += 1;
    }
  }
});

describe('damaged frames', () => {
  async function logWithDamage(): Promise<{ readonly folder: string; readonly epoch: string }> {
    const { folder } = await crashedLog();
    const { log } = openLog(folder);
    await log.append('other', 0, [openedFrame('other')]);
    await log.close();
    const file = join(folder, 'log.db');
    const bytes = readFileSync(file);
    bytes.write('DAMAGED', bytes.indexOf('only-20'));
    writeFileSync(file, bytes);
    return { folder, epoch: log.epoch };
  }

  it('are a gap to readers, named once to the operator, and the rest is readable', async () => {
    const { folder, epoch } = await logWithDamage();
    const { log, problems } = openLog(folder);
    const gaps: LogGap[] = [];
    for (const _round of [1, 2]) expect(await seqsOf(log, 's', (gap) => gaps.push(gap))).not.toContain(21);
    expect(gaps).toEqual([
      { from: 21, to: 21, reason: 'corrupt' },
      { from: 21, to: 21, reason: 'corrupt' },
    ]);
    expect(problems).toMatchObject([{ code: 'frames_corrupt', sessionId: 's', from: 21, to: 21 }]);
    expect(await seqsOf(log, 'other')).toEqual([1]);
    expect(log.epoch).toBe(epoch);
  });

  it('stop a reader that takes no gaps', async () => {
    const { folder } = await logWithDamage();
    const { log } = openLog(folder);
    await expect(seqsOf(log, 's')).rejects.toMatchObject({
      code: 'log_unavailable',
      details: { reason: 'corrupt', from: 21, to: 21 },
    });
  });

  it('that SQLite cannot make sense of are set aside with their file', async () => {
    const { folder, epoch } = await logWithDamage();
    writeFileSync(join(folder, 'log.db'), 'this is no database, and long enough to be taken for one '.repeat(100));
    const { log, problems } = openLog(folder);
    expect(problems.map(({ code }) => code)).toEqual(['database_set_aside', 'frames_lost']);
    expect(existsSync(problems[0]?.path ?? '')).toBe(true);
    expect(log.epoch).not.toBe(epoch);
    expect(await log.append('new', 0, [openedFrame('new')])).toBe(1);
  });

  it('a log of a newer version is refused and left alone', async () => {
    const { folder } = await logWithDamage();
    const database = new Database(join(folder, 'log.db'));
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => openLog(folder)).toThrow('schema 99');
  });
});
