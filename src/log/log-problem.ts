/**
 * Problems that the log reports to the operator: damage it found and how it continued.
 */
import type { Seq } from '../wire/frames.ts';

/** A problem as a message and as fields for an alert. */
export interface LogProblem {
  /**
   * `frames_corrupt`: a row fails its checksum; readers get a gap.
   * `frames_lost`: acknowledged frames are missing at the end; the log has a new epoch.
   * `database_set_aside`: SQLite rejected the file; it was renamed to `path` and a new one was created.
   * `high_water_unwritable`: a loss in the next crash might not be detected.
   * `audit_unwritable`: the disk rejects lines of the audit trail; calls continue.
   * `sweep_failed`: rows due for deletion were kept; the next start, or the next run of retention, tries again.
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

/** Called once for each problem; must not throw. */
export type OnLogProblem = (problem: LogProblem) => void;
