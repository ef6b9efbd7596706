/** Logs on disk for tests of what happens to them: opened, crashed, read. */
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import type { FrameLog, LoggedFrame } from '../../src/log/frame-log.ts';
import type { LogGap } from '../../src/wire/session-replies.ts';
import type { LogProblem } from '../../src/log/log-problem.ts';
import { openSqliteLog } from '../../src/log/sqlite-log.ts';
import { noticeFrame, openedFrame } from './new-frames.ts';
import { temporaryFolder } from './temporary-folder.ts';

const root = temporaryFolder();
const logs: FrameLog[] = [];
afterAll(() => Promise.all(logs.map((log) => log.close())));

/** An empty folder for a log. */
export function newFolder(): string {
  return mkdtempSync(join(root, 'log-'));
}

/** The log in `folder` and what it complained of; closed after the tests of this file. */
export function openLog(folder: string) {
  const problems: LogProblem[] = [];
  const log = openSqliteLog({
    folder,
    limits: DEFAULT_LIMITS,
    durability: 'process',
    onProblem: (problem) => problems.push(problem),
  });
  logs.push(log);
  return { log, problems };
}

/** The files of an open log as a `kill -9` at this moment would leave them. */
export function asAfterKill(folder: string): string {
  const copy = newFolder();
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** A log with 50 appends of one frame each, not closed. */
export async function crashedLog(): Promise<{ readonly folder: string; readonly epoch: string }> {
  const folder = newFolder();
  const { log } = openLog(folder);
  await log.append('s', 0, [openedFrame('s')]);
  for (let head = 1; head < 50; head++) await log.append('s', head, [noticeFrame(`only-${head}`.padEnd(300, '.'))]);
  return { folder: asAfterKill(folder), epoch: log.epoch };
}

/** Every frame of a session. */
export async function framesOf(
  log: FrameLog,
  sessionId: string,
  onGap?: (gap: LogGap) => void,
): Promise<LoggedFrame[]> {
  const frames = [];
  for await (const page of log.read(sessionId, 0, { live: false, onGap })) frames.push(...page);
  return frames;
}
