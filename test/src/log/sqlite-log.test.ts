/** The embedded log: the common contract, and what is its own: groups, memory, many sessions. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import type { FrameLog } from '../../../src/log/frame-log.ts';
import type { LogBounds } from '../../../src/log/log-tables.ts';
import { openSqliteLog } from '../../../src/log/sqlite-log.ts';
import type { NoticeFrame } from '../../../src/wire/frames.ts';
import { noticeFrame, noticeFrames, openedFrame } from '../../helpers/new-frames.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { CONTRACT_PAGE, frameLogContract } from './frame-log-contract.ts';

const root = temporaryFolder();
const logs: FrameLog[] = [];
afterAll(() => Promise.all(logs.map((log) => log.close())));

function openLog(bounds: Partial<LogBounds> = {}, folder = mkdtempSync(join(root, 'log-'))): FrameLog {
  const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, bounds, durability: 'process' });
  logs.push(log);
  return log;
}

const small = { pageFrames: CONTRACT_PAGE, pageRows: 3, tailBytes: 2_000, heads: 3, sweepRows: 2 };
const folders = new Map<FrameLog, string>();

function openSmallLog(folder = mkdtempSync(join(root, 'log-'))): Promise<FrameLog> {
  const log = openLog(small, folder);
  folders.set(log, folder);
  return Promise.resolve(log);
}

frameLogContract('the embedded log', {
  open: () => openSmallLog(),
  reopen: (closed) => openSmallLog(folders.get(closed)),
});

describe('the embedded log', () => {
  it('writes one row an append, however many frames', async () => {
    const folder = mkdtempSync(join(root, 'log-'));
    const log = openLog({}, folder);
    await Promise.all([
      log.append('s', 0, [openedFrame('s'), ...noticeFrames(99)]),
      log.append('s', 100, noticeFrames(3)),
    ]);
    await log.close();
    const database = new Database(join(folder, 'log.db'));
    const rows = database.prepare('SELECT first, last FROM rows ORDER BY row').all();
    expect(rows).toMatchObject([
      { first: 1, last: 100 },
      { first: 101, last: 103 },
    ]);
    database.close();
  });

  it('lands all appends of one turn of the event loop together', async () => {
    const log = openLog();
    const landed: string[] = [];
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const appends = ids.map((id) => log.append(id, 0, [openedFrame(id)]).then(() => landed.push(id)));
    await appends[0];
    await Promise.resolve();
    expect(landed).toEqual(ids);
    await Promise.all(appends);
  });

  it('hands readers in memory the very frame that was appended', async () => {
    const log = openLog();
    const cancelled = ['kept', 'as', 'it', 'is'];
    const { signal } = new AbortController();
    await log.append('s', 0, [openedFrame('s'), { type: 'notice', level: 'info', code: 'x', message: '', cancelled }]);
    for await (const [, notice] of log.read('s', 0, { live: false, signal })) {
      expect(notice?.frame).toMatchObject({ seq: 2, code: 'x' });
      expect((notice?.frame as NoticeFrame).cancelled).toBe(cancelled);
      expect(notice?.frame).toBe(notice?.frame);
    }
  });

  it('tells the type of a frame whose type is not written first', async () => {
    const folder = mkdtempSync(join(root, 'log-'));
    const log = openLog({}, folder);
    await log.append('s', 0, [openedFrame('s'), { level: 'info', code: 'x', message: '', type: 'notice' }]);
    await log.close();
    const { signal } = new AbortController();
    for await (const page of openLog({}, folder).read('s', 0, { live: false, signal })) {
      expect(page.map(({ type }) => type)).toEqual(['opened', 'notice']);
    }
  });

  it('serves rows the memory has let go of from the disk', async () => {
    const log = openLog({ tailBytes: 1_000 });
    let head = await log.append('s', 0, [openedFrame('s')]);
    for (let count = 0; count < 50; count++) head = await log.append('s', head, [noticeFrame('x'.repeat(100))]);
    const seqs = [];
    const { signal } = new AbortController();
    for await (const page of log.read('s', 0, { live: false, signal })) seqs.push(...page.map(({ seq }) => seq));
    expect(seqs).toEqual(Array.from({ length: 51 }, (_, index) => index + 1));
  });

  it('hands out pages from the disk that a reader who stops can hold', async () => {
    const log = openLog({ tailBytes: 1_000, pageChars: 5_000 });
    let head = await log.append('s', 0, [openedFrame('s')]);
    for (let count = 0; count < 50; count++) head = await log.append('s', head, [noticeFrame('x'.repeat(900))]);
    for (let count = 0; count < 200; count++) head = await log.append('s', head, [noticeFrame('x')]);
    const chars: number[] = [];
    const frames: number[] = [];
    const { signal } = new AbortController();
    for await (const page of log.read('s', 0, { live: false, signal })) {
      chars.push(page.reduce((sum, { text }) => sum + text.length, 0));
      frames.push(page.length);
    }
    expect(frames.reduce((sum, count) => sum + count, 0)).toBe(251);
    expect(Math.max(...chars)).toBeLessThan(2 * 5_000);
    expect(Math.max(...frames)).toBeGreaterThan(20);
  });

  it('knows many sessions with few of them in memory', async () => {
    const log = openLog({ heads: 10 });
    const ids = Array.from({ length: 500 }, (_, index) => `s${index}`);
    await Promise.all(ids.map((id) => log.append(id, 0, [openedFrame(id)])));
    await Promise.all(ids.map((id) => log.append(id, 1, noticeFrames(1))));
    expect(new Set(ids.map((id) => log.bounds(id)?.head))).toEqual(new Set([2]));
  });

  it('keeps a session at hand while someone reads it', async () => {
    const log = openLog({ heads: 2 });
    const { signal } = new AbortController();
    await log.append('read', 0, [openedFrame('read')]);
    const next = log.read('read', 1, { live: true, signal })[Symbol.asyncIterator]().next();
    for (let index = 0; index < 20; index++) await log.append(`s${index}`, 0, [openedFrame(`s${index}`)]);
    await log.append('read', 1, noticeFrames(1));
    expect((await next).value?.[0]?.seq).toBe(2);
  });

  it('deletes the rows of a removed session, if need be at the next start', async () => {
    const folder = mkdtempSync(join(root, 'log-'));
    const log = openLog({ sweepRows: 1 }, folder);
    let head = await log.append('s', 0, [openedFrame('s')]);
    for (let count = 0; count < 5; count++) head = await log.append('s', head, noticeFrames(1));
    const removed = log.remove('s');
    await log.close();
    await removed;
    const again = openLog({}, folder);
    expect(again.epoch).toBe(log.epoch);
    await again.remove('s');
    await again.close();
    const database = new Database(join(folder, 'log.db'));
    expect(
      database.prepare('SELECT (SELECT count(*) FROM rows) + (SELECT count(*) FROM sessions) AS left').get(),
    ).toMatchObject({ left: 0 });
    database.close();
  });
});
