/**
 * Opens the embedded log's file and constructs the parts that share it: rows, notes, retention, sweeper and shared
 * store.
 */
import type { Limits } from '../../config/limits.ts';
import { errorMessage } from '../base/errors.ts';
import type { LogGap } from '../wire/session-replies.ts';
import type { OnLogProblem } from './log-problem.ts';
import { NoteStore } from './note-store.ts';
import { type Durability, openDatabase } from './open-database.ts';
import { RetentionStore } from './retention-store.ts';
import { RowScan } from './row-scan.ts';
import { RowStore } from './row-store.ts';
import { SharedEntries, SHARED_STORE_BOUNDS } from './shared-store.ts';
import { Sweeper } from './sweeper.ts';

/** Reports each problem to the operator once. */
class ProblemReporter {
  readonly #onProblem: OnLogProblem;
  /** Maximum of damaged rows that are reported. */
  readonly #maxGaps: number;
  /** Damaged rows reported by this process, as session and last `seq`. */
  readonly #gaps = new Set<string>();
  #isMarkReported = false;

  constructor(onProblem: OnLogProblem, maxGaps: number) {
    this.#onProblem = onProblem;
    this.#maxGaps = maxGaps;
  }

  /** Report damaged frames. */
  gap(sessionId: string, { from, to }: LogGap): void {
    const key = `${sessionId} ${to}`;
    if (this.#gaps.has(key) || this.#gaps.size >= this.#maxGaps) return;
    this.#gaps.add(key);
    const message = `Frames ${from} to ${to} of session "${sessionId}" are damaged and cannot be read`;
    this.#onProblem({ code: 'frames_corrupt', message, sessionId, from, to });
  }

  /** Report a failed write of the high-water mark, once. */
  mark(cause: unknown): void {
    if (this.#isMarkReported) return;
    this.#isMarkReported = true;
    const message = `Cannot write the log's high-water mark: ${errorMessage(cause)}`;
    this.#onProblem({ code: 'high_water_unwritable', message, cause });
  }

  /** Report rows whose deletion failed; they only take up space. */
  sweep(cause: unknown): void {
    const message = `Cannot delete rows that are no longer kept: ${errorMessage(cause)}`;
    this.#onProblem({ code: 'sweep_failed', message, cause });
  }
}

/** Bounds of the log's memory and of its concurrent work. */
export const LOG_BOUNDS = {
  /** Bytes of recent rows kept in memory for readers that are nearly up to date. */
  tailBytes: 16 * 1_024 * 1_024,
  /** Frames in one page for a reader. */
  pageFrames: 500,
  /** Rows fetched from the disk for one page. */
  pageRows: 64,
  /** Text of one page, about: what a reader that has stopped holds. A row by itself may hold a result of 400,000 bytes. */
  pageChars: 32_000,
  /** Sessions whose head is kept in memory; one more is read from the disk again when it is needed. */
  heads: 20_000,
  /** Rows that are deleted in one turn of the event loop: what an append may have to wait for. */
  sweepRows: 256,
  /** Their text. */
  sweepBytes: 4 * 1_024 * 1_024,
  ...SHARED_STORE_BOUNDS,
} as const satisfies Record<string, number>;

/** The bounds of one log. */
export type LogBounds = Readonly<Record<keyof typeof LOG_BOUNDS, number>>;

/** Options of opening the embedded log. */
export interface LogOptions {
  /** Absolute path of an existing folder that only this server uses. */
  readonly folder: string;
  readonly limits: Pick<Limits, 'logFileBytes'>;
  /** Bounds other than `LOG_BOUNDS`. */
  readonly bounds?: Partial<LogBounds>;
  readonly durability: Durability;
  /** Called for each problem; by default problems are ignored. */
  readonly onProblem?: OnLogProblem;
}

/** Parts of the log that share one open database. */
export interface LogTables {
  readonly epoch: string;
  readonly rows: RowStore;
  readonly notes: NoteStore;
  readonly retention: RetentionStore;
  readonly sweeper: Sweeper;
  readonly shared: SharedEntries;
  readonly scan: RowScan;
  readonly problems: ProblemReporter;
  readonly bounds: LogBounds;
}

/** Open the database in the folder, or create it. @throws {GauntletError} As `openDatabase`. */
export function openTables({
  folder,
  limits,
  durability,
  onProblem = () => undefined,
  ...options
}: LogOptions): LogTables {
  const bounds = { ...LOG_BOUNDS, ...options.bounds };
  const problems = new ProblemReporter(onProblem, bounds.pageFrames);
  const open = openDatabase({ folder, durability, maxBytes: limits.logFileBytes, onProblem });
  const notes = new NoteStore(open);
  const rows = new RowStore(open, notes, (cause) => problems.mark(cause));
  const retention = new RetentionStore(open);
  const sweeper = new Sweeper({ rows, notes, retention, bounds, onFailed: (cause) => problems.sweep(cause) });
  const shared = new SharedEntries(open, bounds);
  const scan = new RowScan(open);
  return { epoch: open.epoch, rows, notes, retention, sweeper, shared, scan, problems, bounds };
}
