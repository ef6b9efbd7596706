/** What the log keeps when its process dies, and what it says when the end of its files was damaged meanwhile. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FrameLog } from '../../../src/log/frame-log.ts';
import { asAfterKill, crashedLog, framesOf, newFolder, openLog } from '../../helpers/log-folders.ts';
import { noticeFrames, openedFrame } from '../../helpers/new-frames.ts';

const KILLS = 6;
const appender = new URL('../../fixtures/log-appender.ts', import.meta.url).pathname;

async function seqsOf(log: FrameLog, sessionId: string): Promise<number[]> {
  return (await framesOf(log, sessionId)).map(({ frame }) => frame.seq);
}

/** Run the appender until it has acknowledged `appends`, then kill it. @returns The last head it told. */
async function killAfter(folder: string, appends: number, ...more: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, ['--import', 'tsx', appender, folder, 's', ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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

  it('F02: large records, snapshots and trimming are whole or not there, at any moment', async () => {
    const folder = newFolder();
    for (let kill = 0; kill < KILLS; kill++) {
      const acknowledged = await killAfter(folder, randomInt(1, 60), '70000');
      const { log, problems } = openLog(folder);
      const { bounds, snapshot } = log.find('s') ?? {};
      const { first = 1, head = 0 } = bounds ?? {};
      expect(head).toBeGreaterThanOrEqual(acknowledged);
      expect(await seqsOf(log, 's')).toEqual(Array.from({ length: head - first + 1 }, (_, index) => first + index));
      expect(snapshot?.state).toEqual(snapshot && { head: snapshot.seq });
      expect(first).toBeLessThanOrEqual((snapshot?.seq ?? 0) + 1);
      if (snapshot) expect(log.fact('s', `at ${snapshot.seq}`)).toBe(snapshot.seq);
      expect(problems).toEqual([]);
      await log.close();
    }
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
        else
          writeFileSync(
            wal,
            Buffer.concat([
              whole.subarray(0, offset),
              Buffer.from([~(whole[offset] ?? 0)]),
              whole.subarray(offset + 1),
            ]),
          );
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
