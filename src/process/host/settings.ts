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
  /** Number of launchers, most recently used, with one shell started ahead each. */
  readonly warmSandboxes: number;
  /** Number of jails, most recently used, with one shell started ahead each. */
  readonly warmJails: number;
  /** Processes that the user of a jailed command may have in addition to all that ran when it began. */
  readonly jailProcesses: number;
  /** Private memory of each process in a jail. */
  readonly jailMemoryBytes: number;
  /** Processor time of each process in a jail. */
  readonly jailCpuSeconds: number;
  /** Maximum length of a file written in a jail. */
  readonly jailFileBytes: number;
  /** Maximum of one child's output that is sent but not acknowledged. */
  readonly windowBytes: number;
  /** Maximum of running children. */
  readonly children: number;
}

/** Environment variable that identifies the call of a process; descendants inherit it. */
export const MARKER_VARIABLE = 'GAUNTLET_CALL_ID';
