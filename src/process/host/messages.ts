/**
 * Shapes of the JSON payloads between the server and the process host.
 *
 * Both ends are compiled from this file, so neither checks what the other sends.
 */

import type { ShellLauncher } from '../process-host.ts';

/** How to start a child. */
export interface SpawnMessage {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hasStdin: boolean;
  /** Present: a program's descriptors 5 and on. */
  readonly files?: readonly string[];
  /** Key of the jail it is started in; one that is not open fails with `ENOJAIL`. */
  readonly jail?: string;
  /** Present: a shell runs this; `file` and `args` are ignored. */
  readonly shellScript?: string;
  /** Present: it starts that shell. */
  readonly launcher?: ShellLauncher;
  /** Where the shell writes the folder it ended in. */
  readonly cwdFile?: string;
}

/** A jail was opened. */
export interface JailOpenedMessage {
  /** Why it was not. */
  readonly failure?: string;
}

/** A child is there. */
export interface StartedMessage {
  readonly pid: number;
  /** Value of `MARKER_VARIABLE` in its environment. */
  readonly marker: string;
  /** The machine's youngest process when it began: its descendants are younger. 0: not known. */
  readonly bornAfter: number;
}

/** A child could not be started. */
export interface FailedMessage {
  /** As in errno: `ENOENT`, `EMFILE`. */
  readonly code: string;
  readonly message: string;
}

/** The leader of a group is gone. */
export interface ExitedMessage {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether its group still has members. False means the number may be given to strangers: never signal it again. */
  readonly hasGroup: boolean;
}

/** A group to end, and the marker of those who left it. */
export interface KillTreeMessage extends StartedMessage {
  readonly hasGroup: boolean;
  /** Since the leader started. */
  readonly ageMs: number;
}
