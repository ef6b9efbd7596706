/** A disk that takes no more: appends are refused as a whole, and taken again when there is room. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { errorMessage } from '../../../src/base/errors.ts';
import type { FrameLog } from '../../../src/log/frame-log.ts';
import { openSqliteLog } from '../../../src/log/sqlite-log.ts';
import { noticeFrame, noticeFrames, openedFrame } from '../../helpers/new-frames.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const MEGABYTE = 1024 * 1024;
const root = temporaryFolder();
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A log with session `s` on a disk that can be filled and emptied. */
interface SmallDisk {
  readonly log: FrameLog;
  fill(): unknown;
  free(): unknown;
}

async function openLog(folder: string, logFileBytes: number): Promise<FrameLog> {
  const log = openSqliteLog({ folder, limits: { ...DEFAULT_LIMITS, logFileBytes }, durability: 'process' });
  cleanUps.push(() => log.close());
  await log.append('s', 0, [openedFrame('s')]);
  return log;
}

/** The log may grow to a megabyte, and a session takes it all. */
async function smallFile(): Promise<SmallDisk> {
  const log = await openLog(mkdtempSync(join(root, 'log-')), MEGABYTE);
  return { log, fill: () => appendUntilRefused(log), free: () => log.remove('ballast') };
}

async function appendUntilRefused(log: FrameLog): Promise<void> {
  let head = await log.append('ballast', 0, [openedFrame('ballast')]);
  for (const size of [100_000, 2_000, 200]) {
    for (let isFull = false; !isFull;) {
      const append = log.append('ballast', head, [noticeFrame('x'.repeat(size))]);
      await append.then(
        (seq) => (head = seq),
        () => (isFull = true),
      );
    }
  }
}

/** A megabyte of memory, mounted; where that is not allowed, a file that may not grow. */
async function smallDisk(): Promise<SmallDisk> {
  const folder = mkdtempSync(join(root, 'disk-'));
  if (!mountMegabyte(folder)) return smallFile();
  // Lazily: a closed database keeps its descriptors until it is collected.
  cleanUps.push(() => execFileSync('umount', ['-l', folder]));
  const log = await openLog(folder, DEFAULT_LIMITS.logFileBytes);
  const ballast = join(folder, 'ballast');
  return { log, fill: () => writeUntilFull(ballast), free: () => rmSync(ballast) };
}

function mountMegabyte(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    // Not root, or a container that may not mount.
    return false;
  }
}

function writeUntilFull(file: string): void {
  try {
    writeFileSync(file, Buffer.alloc(2 * MEGABYTE));
  } catch (error) {
    expect(errorMessage(error)).toContain('ENOSPC');
  }
}

describe.each([
  ['a full disk', smallDisk],
  ['a log at its largest', smallFile],
])('%s', (_title, make) => {
  const large = noticeFrames(4, 'x'.repeat(50_000));

  it('refuses every append of the group and keeps the heads', async () => {
    const { log, fill } = await make();
    await fill();
    const refused = [
      log.append('s', 1, large),
      log.append('s', 5, noticeFrames(1)),
      log.append('new', 0, [openedFrame('new')]),
    ];
    for (const append of refused) await expect(append).rejects.toMatchObject({ code: 'log_unavailable' });
    expect([log.bounds('s'), log.bounds('new')]).toEqual([{ first: 1, head: 1 }, undefined]);
  });

  it('shows readers nothing that was refused', async () => {
    const { log, fill, free } = await make();
    await fill();
    const { signal } = new AbortController();
    const next = log.read('s', 1, { live: true, signal })[Symbol.asyncIterator]().next();
    await expect(log.append('s', 1, large)).rejects.toMatchObject({ code: 'log_unavailable' });
    await free();
    await log.append('s', 1, [noticeFrame('after')]);
    expect((await next).value).toMatchObject([{ seq: 2, frame: { message: 'after' } }]);
  });

  it('closes without a complaint', async () => {
    const { log, fill } = await make();
    await log.append('s', 1, noticeFrames(3));
    await fill();
    await log.close();
  });

  it('takes appends again by itself when there is room', async () => {
    const { log, fill, free } = await make();
    await fill();
    await expect(log.append('s', 1, large)).rejects.toMatchObject({ code: 'log_unavailable' });
    await free();
    expect(await log.append('s', 1, large)).toBe(5);
    expect(await log.append('new', 0, [openedFrame('new')])).toBe(1);
  });
});
