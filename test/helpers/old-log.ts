/** Logs as earlier versions wrote them, made through SQL. */
import Database from 'libsql';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

/** The tables of schema 1, to the letter. */
const SCHEMA_1 = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE sessions (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE, principal TEXT NOT NULL, created_at TEXT NOT NULL, title TEXT,
    checksum INTEGER NOT NULL
  );
  CREATE INDEX sessions_of_principal ON sessions (principal, number);
  CREATE INDEX sessions_removed ON sessions (number) WHERE id IS NULL;
  CREATE TABLE rows (
    row INTEGER PRIMARY KEY, session INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    checksum INTEGER NOT NULL, frames TEXT NOT NULL
  );
  CREATE UNIQUE INDEX rows_of_session ON rows (session, last);
  INSERT INTO meta VALUES ('epoch', 'AAAAbbbbCCCC');
  PRAGMA user_version = 1;`;

/** What schema 2 added, to the letter. */
const STEP_2 = `
  CREATE TABLE snapshots (
    session INTEGER PRIMARY KEY, seq INTEGER NOT NULL, bytes INTEGER NOT NULL, checksum INTEGER NOT NULL,
    state TEXT NOT NULL
  );
  CREATE TABLE facts (
    session INTEGER NOT NULL, key TEXT NOT NULL, checksum INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;
  PRAGMA user_version = 2;`;

/** Epoch of the logs made here. */
export const OLD_EPOCH = 'AAAAbbbbCCCC';

/** Write a log of schema 1 into `folder` that holds one session, a row a frame. @param frames Without `seq` and `ts`. */
export function writeLogOfSchema1(
  folder: string,
  session: { readonly id: string; readonly principal: string; readonly frames: readonly object[] },
): void {
  const { id, principal, frames } = session;
  const createdAt = '2026-01-02T03:04:05.678Z';
  const database = new Database(join(folder, 'log.db'));
  database.exec(SCHEMA_1);
  database
    .prepare('INSERT INTO sessions VALUES (1, ?, ?, ?, NULL, ?)')
    .run([id, principal, createdAt, crc32(`1 ${id} ${createdAt} ${principal}`)]);
  frames.forEach((frame, place) => {
    const seq = place + 1;
    const text = JSON.stringify({ seq, ts: createdAt, ...frame });
    const checksum = crc32(text, crc32(`1 ${seq} ${seq} `));
    database.prepare('INSERT INTO rows VALUES (?, 1, ?, ?, ?, ?)').run([seq, seq, seq, checksum, text]);
  });
  database.close();
  const mark = String(frames.length).padStart(16, '0');
  writeFileSync(join(folder, 'log.mark'), `${mark} ${crc32(mark).toString(16).padStart(8, '0')}\n`, { mode: 0o600 });
}

/** Write a log of schema 2 that holds one session with a snapshot as that version saved it: without tasks. */
export function writeLogOfSchema2(folder: string, session: Parameters<typeof writeLogOfSchema1>[1]): void {
  writeLogOfSchema1(folder, session);
  const database = new Database(join(folder, 'log.db'));
  database.exec(STEP_2);
  const [opened, ...rest] = session.frames;
  const seq = rest.length + 1;
  const text = JSON.stringify({ opened });
  database.prepare('INSERT INTO snapshots VALUES (1, ?, 0, ?, ?)').run([seq, crc32(text, crc32(`1 ${seq} `)), text]);
  database.close();
}
