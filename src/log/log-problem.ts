/**
 * What the log tells the operator: damage it found and how it went on.
 */
import type { Seq } from '../wire/frames.ts';

/** A damage, in words and in the parts that an alert may want. */
export interface LogProblem {
  /**
   * `frames_corrupt`: a row fails its checksum; readers get a gap.
   * `frames_lost`: acknowledged frames are missing at the end; the log has a new epoch.
   * `database_set_aside`: SQLite refused the file; it was renamed to `path` and a new one begun.
   * `high_water_unwritable`: a loss after the next crash might not be noticed.
   * `audit_unwritable`: the disk refuses lines of the audit trail; calls go on.
   * `sweep_failed`: rows stay that should have gone; the next start, or the next look of retention, tries again.
   */
  readonly code:
    | 'frames_corrupt'
    | 'frames_lost'
    | 'database_set_aside'
    | 'high_water_unwritable'
    | 'audit_unwritable'
    | 'sweep_failed';
  readonly message: string;
  readonly sessionId?: string;
  readonly from?: Seq;
  readonly to?: Seq;
  readonly path?: string;
  readonly cause?: unknown;
}

/** Told once of each problem; must not throw. */
export type OnLogProblem = (problem: LogProblem) => void;
