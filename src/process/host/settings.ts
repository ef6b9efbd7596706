/**
 * What a process host is told once, when it starts.
 */

/** What the server decides when it starts a host. */
export interface HostSettings {
  /** The data directory's id: first half of every marker. */
  readonly ownerId: string;
  /** Tells the children of this host from those of another host of the same owner. */
  readonly hostTag: string;
  readonly killGraceMs: number;
  /** Shells kept started ahead. */
  readonly warmShells: number;
  /** Launchers for each of which one shell is kept started ahead, those used last. */
  readonly warmSandboxes: number;
  /** Jails for each of which one shell is kept started ahead, those used last. */
  readonly warmJails: number;
  /** Processes that the user of a jailed command may have beside all that ran on the machine when it began. */
  readonly jailProcesses: number;
  /** Memory of its own that each process in a jail may have. */
  readonly jailMemoryBytes: number;
  /** Processor time of each. */
  readonly jailCpuSeconds: number;
  /** Length of each file it writes. */
  readonly jailFileBytes: number;
  /** Bytes of one child's output that may be under way unacknowledged. */
  readonly windowBytes: number;
  /** Children running at once. */
  readonly children: number;
}

/** The environment variable that says whose child a process is; children of children inherit it. */
export const MARKER_VARIABLE = 'GAUNTLET_CALL_ID';
