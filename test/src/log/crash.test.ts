/** What the log keeps when its process dies, and what it says when its files were damaged meanwhile. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import type { FrameLog, LogGap, LoggedFrame } from '../../../src/log/frame-log.ts';
import type { LogProblem } from '../../../src/log/log-problem.ts';
import { openSqliteLog } from '../../../src/log/sqlite-log.ts';
import { noticeFrame, noticeFrames, openedFrame } from '../../helpers/new-frames.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const root = temporaryFolder();
const appender = new URL('../../fixtures/log-appender.ts', import.meta.url).pathname;
const logs: FrameLog[] = [];
afterAll(() => Promise.all(logs.map((log) => log.close())));

function newFolder(): string {
  return mkdtempSync(join(root, 'log-'));
}

function openLog(folder: string): { readonly log: FrameLog; readonly problems: LogProblem[] } {
  const problems: LogProblem[] = [];
  const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, durability: 'process', onProblem: (problem) => problems.push(problem) });
  logs.push(log);
  return { log, problems };
}

/** The files of an open log as a `kill -9` at this moment would leave them. */
function asAfterKill(folder: string): string {
  const copy = newFolder();
  for (const file of readdirSync(folder)) copyFileSync(join(folder, file), join(copy, file));
  return copy;
}

/** A log with 50 appends of one frame each, not closed. */
async function crashedLog(): Promise<{ readonly folder: string; readonly epoch: string }> {
  const folder = newFolder();
  const { log } = openLog(folder);
  await log.append('s', 0, [openedFrame('s')]);
  for (let head = 1; head < 50; head++) await log.append('s', head, [noticeFrame(`only-${head}`.padEnd(300, '.'))]);
  return { folder: asAfterKill(folder), epoch: log.epoch };
}

async function framesOf(log: FrameLog, sessionId: string, onGap?: (gap: LogGap) => void): Promise<LoggedFrame[]> {
  const frames = [];
  const { signal } = new AbortController();
  for await (const page of log.read(sessionId, 0, { live: false, signal, onGap })) frames.push(...page);
  return frames;
}

async function seqsOf(log: FrameLog, sessionId: string, onGap?: (gap: LogGap) => void): Promise<number[]> {
  return (await framesOf(log, sessionId, onGap)).map(({ frame }) => frame.seq);
}

/** Run the appender until it has acknowledged `appends`, then kill it. @returns The last head it told. */
async function killAfter(folder: string, appends: number): Promise<number> {
  const child = spawn(process.execPath, ['--import', 'tsx', appender, folder, 's'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let head = 0;
  let count = 0;
  for await (const line of createInterface(child.stdout)) {
    head = Number(line);
    if (++count === appends) child.kill('SIGKILL');
  }
  await exited;
  return head;
}

describe('after kill -9', () => {
  it('everything that was acknowledged is there, three times over', async () => {
    const folder = newFolder();
    const epochs = new Set<string>();
    for (const appends of [1, 57, 400]) {
      const acknowledged = await killAfter(folder, appends);
      const { log, problems } = openLog(folder);
      const head = log.bounds('s')?.head ?? 0;
      expect(head).toBeGreaterThanOrEqual(acknowledged);
      expect(await seqsOf(log, 's')).toEqual(Array.from({ length: head }, (_, index) => index + 1));
      expect(problems).toEqual([]);
      epochs.add(log.epoch);
      await log.close();
    }
    expect(epochs.size).toBe(1);
  });

  it('an older mark than the last row is no loss', async () => {
    const { folder, epoch } = await crashedLog();
    const mark = readFileSync(join(folder, 'log.mark'));
    const { log: grown } = openLog(folder);
    await grown.append('s', 50, noticeFrames(1));
    const again = asAfterKill(folder);
    writeFileSync(join(again, 'log.mark'), mark);
    expect(openLog(again)).toMatchObject({ log: { epoch }, problems: [] });
  });
});

describe('a damaged end of the write-ahead log', () => {
  it('leaves a prefix, is told once, and begins a new epoch', async () => {
    const { folder, epoch } = await crashedLog();
    const whole = readFileSync(join(folder, 'log.db-wal'));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: whole.length - 1 }), fc.boolean(), async (offset, isCut) => {
        const copy = asAfterKill(folder);
        const wal = join(copy, 'log.db-wal');
        if (isCut) truncateSync(wal, offset);
        else writeFileSync(wal, Buffer.concat([whole.subarray(0, offset), Buffer.from([~(whole[offset] ?? 0)]), whole.subarray(offset + 1)]));
        const { log, problems } = openLog(copy);
        const head = log.bounds('s')?.head ?? 0;
        expect(await seqsOf(log, 's')).toEqual(Array.from({ length: head }, (_, index) => index + 1));
        expect([log.epoch === epoch, problems.length]).toEqual(head === 50 ? [true, 0] : [false, 1]);
        await log.close();
        rmSync(copy, { recursive: true });
      }),
      { numRuns: 40 },
    );
  });

  it('is told from a removal of the last rows', async () => {
    const folder = newFolder();
    const { log } = openLog(folder);
    await log.append('s', 0, [openedFrame('s')]);
    await log.remove('s');
    expect(openLog(asAfterKill(folder))).toMatchObject({ log: { epoch: log.epoch }, problems: [] });
  });

  it.each([
    ['missing', (mark: string) => rmSync(mark)],
    ['torn', (mark: string) => truncateSync(mark, 5)],
  ])('cannot be ruled out when the mark is %s', async (_title, damage) => {
    const { folder, epoch } = await crashedLog();
    damage(join(folder, 'log.mark'));
    const { log, problems } = openLog(folder);
    expect(problems).toMatchObject([{ code: 'frames_lost' }]);
    expect(log.epoch).not.toBe(epoch);
    await log.close();
    expect(openLog(folder)).toMatchObject({ log: { epoch: log.epoch }, problems: [] });
  });

  it('never has a seq given twice under one epoch', async () => {
    const { folder, epoch } = await crashedLog();
    truncateSync(join(folder, 'log.db-wal'), readFileSync(join(folder, 'log.db-wal')).length >> 1);
    const { log } = openLog(folder);
    const head = log.bounds('s')?.head ?? 0;
    expect(head).toBeLessThan(50);
    await log.append('s', head, noticeFrames(1));
    expect(log.epoch).not.toBe(epoch);
  });
});

describe('a damaged file', () => {
  const sessions = ['a', 'b', 'c'];

  async function closedLog(): Promise<{ readonly folder: string; readonly lines: ReadonlyMap<string, readonly string[]> }> {
    const folder = newFolder();
    const { log } = openLog(folder);
    const heads = await Promise.all(sessions.map((id) => log.append(id, 0, [openedFrame(id)])));
    for (let round = 0; round < 40; round++) {
      const appends = sessions.map((id, index) => log.append(id, heads[index] ?? 0, noticeFrames(1 + (round % 3), 'x'.repeat(round * 20))));
      for (const [index, append] of appends.entries()) heads[index] = await append;
    }
    const lines = new Map<string, readonly string[]>();
    for (const id of sessions) lines.set(id, (await framesOf(log, id)).map(({ text }) => text));
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

  async function account(log: FrameLog, id: string, lines: readonly string[], seen: Record<'frames' | 'gaps' | 'refusals', number>): Promise<void> {
    const gaps: LogGap[] = [];
    try {
      const head = log.bounds(id)?.head ?? 0;
      const frames = await framesOf(log, id, (gap) => gaps.push(gap));
      for (const { seq, text } of frames) expect(text).toBe(lines[seq - 1]);
      const missing = gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0);
      expect(frames.length + missing).toBe(head);
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
    expect(gaps).toEqual([{ from: 21, to: 21 }, { from: 21, to: 21 }]);
    expect(problems).toMatchObject([{ code: 'frames_corrupt', sessionId: 's', from: 21, to: 21 }]);
    expect(await seqsOf(log, 'other')).toEqual([1]);
    expect(log.epoch).toBe(epoch);
  });

  it('stop a reader that takes no gaps', async () => {
    const { folder } = await logWithDamage();
    const { log } = openLog(folder);
    await expect(seqsOf(log, 's')).rejects.toMatchObject({ code: 'log_unavailable', details: { reason: 'corrupt', from: 21, to: 21 } });
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
    const { default: Database } = await import('libsql');
    const database = new Database(join(folder, 'log.db'));
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => openLog(folder)).toThrow('schema 99');
  });
});
