/**
 * The embedded log's tables, opened: rows, notes, what retention asks, what deletes, and what sessions share.
 */
import type { Limits } from '../../config/limits.ts';
import { errorMessage } from '../base/errors.ts';
import type { LogGap } from './frame-log.ts';
import type { OnLogProblem } from './log-problem.ts';
import { NoteStore } from './note-store.ts';
import { type Durability, openDatabase } from './open-database.ts';
import { RetentionStore } from './retention-store.ts';
import { RowStore } from './row-store.ts';
import { SharedEntries, type SharedStoreLimits } from './shared-store.ts';
import { Sweeper } from './sweeper.ts';

/** Where problems go to be told. */
class Complaints {
  readonly #onProblem: OnLogProblem;
  /** Damaged rows told of at most; more are as good as countless. */
  readonly #mostGaps: number;
  /** Damaged rows that were told of, by session and end; forgotten with the process. */
  readonly #gaps = new Set<string>();
  #isMarkTold = false;

  constructor(onProblem: OnLogProblem, mostGaps: number) {
    this.#onProblem = onProblem;
    this.#mostGaps = mostGaps;
  }

  /** Frames are damaged. */
  gap(sessionId: string, { from, to }: LogGap): void {
    const key = `${sessionId} ${to}`;
    if (this.#gaps.has(key) || this.#gaps.size >= this.#mostGaps) return;
    this.#gaps.add(key);
    const message = `Frames ${from} to ${to} of session "${sessionId}" are damaged and cannot be read`;
    this.#onProblem({ code: 'frames_corrupt', message, sessionId, from, to });
  }

  /** The high-water mark could not be written. */
  mark(cause: unknown): void {
    if (this.#isMarkTold) return;
    this.#isMarkTold = true;
    const message = `Cannot write the log's high-water mark: ${errorMessage(cause)}`;
    this.#onProblem({ code: 'high_water_unwritable', message, cause });
  }

  /** Rows that should go stay; they only take up room. */
  sweep(cause: unknown): void {
    const message = `Cannot delete rows that are no longer kept: ${errorMessage(cause)}`;
    this.#onProblem({ code: 'sweep_failed', message, cause });
  }
}

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
