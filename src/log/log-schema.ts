/**
 * Schema of the embedded log and its migrations.
 */
import type Database from 'libsql';
import { randomBytes } from 'node:crypto';
import { GauntletError } from '../base/errors.ts';

/**
 * Migrations: step `n` upgrades a file from schema `n` to `n + 1`; the first creates the tables of an empty file.
 *
 * `rows` is filled in the order of its key and a row's text may be long, so the text stays out of the index: one group
 * of appends to many sessions then writes few pages. A session whose id is NULL was removed, and its rows wait for
 * deletion. Steps only add, and all missing steps run in one transaction, so no backup of the older file is kept.
 */
const STEPS: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
   CREATE TABLE sessions (
     number INTEGER PRIMARY KEY,
     id TEXT UNIQUE,
     principal TEXT NOT NULL,
     created_at TEXT NOT NULL,
     title TEXT,
     checksum INTEGER NOT NULL
   );
   CREATE INDEX sessions_of_principal ON sessions (principal, number);
   CREATE INDEX sessions_removed ON sessions (number) WHERE id IS NULL;
   CREATE TABLE rows (
     row INTEGER PRIMARY KEY,
     session INTEGER NOT NULL,
     first INTEGER NOT NULL,
     last INTEGER NOT NULL,
     checksum INTEGER NOT NULL,
     frames TEXT NOT NULL
   );
   CREATE UNIQUE INDEX rows_of_session ON rows (session, last);`,
  // Snapshots load a session without its rows; facts remember ids whose rows retention deleted.
  `CREATE TABLE snapshots (
     session INTEGER PRIMARY KEY,
     seq INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     checksum INTEGER NOT NULL,
     state TEXT NOT NULL
   );
   CREATE TABLE facts (
     session INTEGER NOT NULL,
     key TEXT NOT NULL,
     checksum INTEGER NOT NULL,
     value TEXT NOT NULL,
     PRIMARY KEY (session, key)
   ) WITHOUT ROWID;`,
  // Entries that sessions of one principal share.
  `CREATE TABLE shared (
     principal TEXT NOT NULL,
     namespace TEXT NOT NULL,
     key TEXT NOT NULL,
     version INTEGER NOT NULL,
     checksum INTEGER NOT NULL,
     value TEXT NOT NULL,
     PRIMARY KEY (principal, namespace, key)
   );`,
];

/**
 * Upgrade the file at `path` to the current schema.
 *
 * @throws {GauntletError} `invalid_setting` if a newer version wrote it.
 */
export function migrate(database: Database.Database, path: string): void {
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version === STEPS.length) return;
  if (version > STEPS.length) {
    throw new GauntletError(
      'invalid_setting',
      `Cannot open the log "${path}": it has schema ${version} and this version knows ${STEPS.length}. Start the newer version again, or use another data directory`,
    );
  }
  database.exec('BEGIN IMMEDIATE');
  for (const step of STEPS.slice(version)) database.exec(step);
  if (version === 0) writeEpoch(database, newEpoch());
  database.exec(`PRAGMA user_version = ${STEPS.length}`);
  database.exec('COMMIT');
}

/** Generate an identity for the log's history: 12 characters without a dot. */
export function newEpoch(): string {
  return randomBytes(9).toString('base64url');
}

/** True if `text` has the format of `newEpoch`. */
export function isEpoch(text: string): boolean {
  return /^[A-Za-z0-9_-]{12}$/.test(text);
}

/** Store the identity of the log's history. */
export function writeEpoch(database: Database.Database, epoch: string): void {
  database.prepare(`INSERT OR REPLACE INTO meta VALUES ('epoch', ?)`).run([epoch]);
}
