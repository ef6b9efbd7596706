/**
 * The embedded log's tables, opened: rows, notes, what retention asks, what deletes, and what sessions share.
 */
import type { Limits } from '../../config/limits.ts';
import { Complaints } from './complaints.ts';
import type { OnLogProblem } from './log-problem.ts';
import { NoteStore } from './note-store.ts';
import { openDatabase, type Durability } from './open-database.ts';
import { RetentionStore } from './retention-store.ts';
import { RowStore } from './row-store.ts';
import { SharedEntries, type SharedStoreLimits } from './shared-store.ts';
import { Sweeper } from './sweeper.ts';

/** How to open the embedded log. */
export interface LogOptions {
  /** Absolute; exists, and belongs to this server alone. */
  readonly folder: string;
  readonly limits: Pick<Limits, `log${string}` & keyof Limits> & SharedStoreLimits;
  readonly durability: Durability;
  /** Told of damage; by default nobody is. */
  readonly onProblem?: OnLogProblem;
}

/** Everything that stands over the one open file. */
export interface LogTables {
  readonly epoch: string;
  readonly rows: RowStore;
  readonly notes: NoteStore;
  readonly retention: RetentionStore;
  readonly sweeper: Sweeper;
  readonly shared: SharedEntries;
  readonly complaints: Complaints;
}

/** Open the file in the folder, or begin it. @throws {GauntletError} As `openDatabase`. */
export function openTables({ folder, limits, durability, onProblem = () => undefined }: LogOptions): LogTables {
  const complaints = new Complaints(onProblem, limits.logPage);
  const open = openDatabase({ folder, durability, maxBytes: limits.logFileBytes, onProblem });
  const notes = new NoteStore(open);
  const rows = new RowStore(open, notes, (cause) => complaints.mark(cause));
  const retention = new RetentionStore(open);
  const sweeper = new Sweeper({ rows, notes, retention, limits, onFailed: (cause) => complaints.sweep(cause) });
  const shared = new SharedEntries(open, limits);
  return { epoch: open.epoch, rows, notes, retention, sweeper, shared, complaints };
}
