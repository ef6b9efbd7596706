/**
 * The log: how fast it takes frames, and what a start over many sessions costs.
 */
import Database from 'libsql';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import type { NewFrame } from '../../src/wire/frames.ts';
import { openSqliteLog } from '../../src/log/sqlite-log.ts';
import { httpClient } from '../clients.ts';
import { type Row, short } from '../row.ts';
import { newHome, type ServerHome, startOurs } from '../servers.ts';
import { inTurn } from '../statistics.ts';

const GROUP = 100;
const GROUPS = 100;
const FRAMES_A_ROW = 6;
export const SESSIONS = 10_000;

/** Frames a second in groups of a hundred sessions' appends, against libsql given the same text. */
export async function appendRow(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'gauntlet-bench-log-'));
  const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, durability: 'process' });
  const heads = new Map<string, number>();
  const ids = Array.from({ length: GROUP }, (_, each) => `session-${each}`);
  for (const id of ids) heads.set(id, await log.append(id, 0, [openedFrame(id)]));
  const ours = () =>
    framesPerSecond(async () => {
      const landed = ids.map((id) => log.append(id, heads.get(id) ?? 0, frames()));
      for (const [each, id] of ids.entries()) heads.set(id, (await landed[each]) ?? 0);
    });
  const bare = bareLog(join(folder, 'bare.db'));
  const rates = await inTurn(5, ours, () =>
    framesPerSecond(async () => {
      bare(ids.map(() => frames()));
      await nextTurn();
    }),
  );
  await log.close();
  rmSync(folder, { recursive: true, force: true });
  return {
    what: `frames appended/s, ${GROUP} sessions a group`,
    toReach: 'at least 0.5 of bare libsql',
    measured: `${short(rates.ours)} / ${short(rates.floor)} = ${short(rates.ratio)}`,
    isReached: rates.ratio >= 0.5,
  };
}

/** From the start of the process to the first list of sessions, with many on disk and with none. */
export async function restartRow(): Promise<Row> {
  const times = await inTurn(
    3,
    () => startToList((home) => fill(home)),
    () => startToList(() => Promise.resolve()),
  );
  return {
    what: `start to first list, ${SESSIONS} sessions on disk, ms`,
    toReach: 'at most 3 empty starts',
    measured: `${short(times.ours)} / ${short(times.floor)} = ${short(times.ratio)}`,
    isReached: times.ratio <= 3,
  };
}

async function startToList(prepare: (home: ServerHome) => Promise<void>): Promise<number> {
  const home = newHome();
  await prepare(home);
  const begunMs = performance.now();
  const server = await startOurs([], {}, home);
  const client = httpClient(server);
  await client.send('GET', '/sessions');
  const tookMs = performance.now() - begunMs;
  client.close();
  await server.stop();
  return tookMs;
}

/** Sessions as a server leaves them that was killed: none has a snapshot. */
export async function fill({ folder, workspace }: ServerHome): Promise<void> {
  const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, durability: 'process' });
  const ids = Array.from({ length: SESSIONS }, (_, each) => `session-${each}`);
  for (let first = 0; first < SESSIONS; first += GROUP) {
    const group = ids.slice(first, first + GROUP);
    await Promise.all(group.map((id) => log.append(id, 0, [openedFrame(id, workspace), ...frames()])));
  }
  await log.close();
}

async function framesPerSecond(group: () => Promise<void>): Promise<number> {
  const begunMs = performance.now();
  for (let each = 0; each < GROUPS; each++) await group();
  return (GROUPS * GROUP * FRAMES_A_ROW) / ((performance.now() - begunMs) / 1_000);
}

/** The same file settings, one insert a row into a table with the same index, and nothing else. */
function bareLog(path: string): (rows: readonly (readonly NewFrame[])[]) => void {
  const database = new Database(path);
  database.pragma('locking_mode = EXCLUSIVE');
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.exec('CREATE TABLE rows (row INTEGER PRIMARY KEY, session INTEGER, last INTEGER, frames TEXT)');
  database.exec('CREATE UNIQUE INDEX rows_of_session ON rows (session, last)');
  const insert = database.prepare('INSERT INTO rows (session, last, frames) VALUES (?, ?, ?)');
  let last = 0;
  return (rows) => {
    last += FRAMES_A_ROW;
    database.exec('BEGIN IMMEDIATE');
    rows.forEach((frames, session) =>
      insert.run([session, last, frames.map((each) => JSON.stringify(each)).join('\n')]),
    );
    database.exec('COMMIT');
  };
}

/** What a call that does nothing comes to, about. */
function frames(): readonly NewFrame[] {
  return Array.from({ length: FRAMES_A_ROW }, (_, each) => ({
    type: 'notice',
    level: 'info',
    code: 'bench',
    message: `frame ${each} of a row, about as long as the frames of a small call are on the average, no longer`,
  }));
}

function openedFrame(session_id: string, cwd = tmpdir()): NewFrame {
  return {
    type: 'opened',
    session_id,
    principal: 'owner',
    created_at: new Date().toISOString(),
    cwd,
    tool_mode: 'normal',
    mode: 'default',
  };
}
