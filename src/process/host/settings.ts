/**
 * Settings that a process host receives when it starts.
 */

/** Settings that the server passes to a host. */
export interface HostSettings {
  /** Id of the data directory: first part of every marker. */
  readonly ownerId: string;
  /** Distinguishes the children of this host from those of another host of the same owner. */
  readonly hostTag: string;
  readonly killGraceMs: number;
  /** Number of plain shells started ahead. */
  readonly warmShells: number;
  /** Private memory of each process in a jail. */
  readonly jailMemoryBytes: number;
  /** Children running at once. */
  readonly children: number;
}

/** Environment variable that identifies the call of a process; descendants inherit it. */
export const MARKER_VARIABLE = 'GAUNTLET_CALL_ID';

/** Bytes of one child's output under way between host and server before the host waits: four pipes full. */
export const OUTPUT_WINDOW_BYTES = 256 * 1_024;
