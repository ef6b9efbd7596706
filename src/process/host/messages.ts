/**
 * JSON payloads between the server and the process host.
 *
 * Both ends are compiled from this file, so neither validates what the other sends.
 */

import type { ShellLauncher } from '../process-host.ts';

/** Request to start a child. */
export interface SpawnMessage {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hasStdin: boolean;
  /** Files that a program receives as descriptors 5 and up. */
  readonly files?: readonly string[];
  /** Key of the jail to start it in; fails with `ENOJAIL` if that is not open. */
  readonly jail?: string;
  /** Script for a shell; if present, `file` and `args` are ignored. */
  readonly shellScript?: string;
  /** Launcher that starts the shell. */
  readonly launcher?: ShellLauncher;
  /** File into which the shell writes the folder it ended in. */
  readonly cwdFile?: string;
}

/** Reply to the opening of a jail. */
export interface JailOpenedMessage {
  /** Reason for a failure. */
  readonly failure?: string;
}

/** Event: a child has started. */
export interface StartedMessage {
  readonly pid: number;
  /** Value of `MARKER_VARIABLE` in its environment. */
  readonly marker: string;
  /** Last process id of the machine before the start: descendants have higher ids. 0: unknown. */
  readonly bornAfter: number;
}

/** Event: a child could not be started. */
export interface FailedMessage {
  /** errno name: `ENOENT`, `EMFILE`. */
  readonly code: string;
  readonly message: string;
}

/** Event: the leader of a group has ended. */
export interface ExitedMessage {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** True if its group still has members. If false, the id may be reused by another process: never signal it again. */
  readonly hasGroup: boolean;
}

/** Request to end a group and the processes with its marker. */
export interface KillTreeMessage extends StartedMessage {
  readonly hasGroup: boolean;
  /** Time since the leader was started. */
  readonly ageMs: number;
}
