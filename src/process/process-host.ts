/**
 * Interface of the process host: start a child, read it, end all it started.
 *
 * The host is a small process of its own, because a fork from the server would block the event loop in proportion to
 * the server's memory. When the server dies, it ends every group it started.
 */

/** Pipe that a chunk came from. */
export type OutputStream = 'stdout' | 'stderr';

/** Program that starts a shell in an environment of its own: a sandbox. */
export interface ShellLauncher {
  /**
   * Program and arguments; the shell's own follow. It must pass on descriptors and environment, and end with the shell.
   */
  readonly command: readonly string[];
  /** Absolute paths; opened for reading and passed to it as descriptors 4 and up. */
  readonly files?: readonly string[];
  /** Identity of the files that `command` names: a shell started ahead is used only if it is the same. */
  readonly identity: string;
  /** True to give each process the limits of a jail. */
  readonly isLimited?: boolean;
}

/** Request to start a child. */
export interface SpawnRequest {
  /** Absolute path of the program, or its name on PATH; never passed to a shell. */
  readonly file: string;
  readonly args: readonly string[];
  /** Absolute path. */
  readonly cwd: string;
  /** Added to the allow-listed environment (PATH HOME LANG TERM TMPDIR and the call's marker). */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Real paths of regular files, passed to a program as descriptors 5 and up, never through a link. A missing file
   * becomes /dev/null.
   */
  readonly files?: readonly string[];
  /** `null` (default): /dev/null. `pipe`: `write` and `end` reach it. */
  readonly stdin?: 'null' | 'pipe';
  /**
   * Script for a shell, warm if one is ready; equivalent to `bash --noprofile --norc -c script`. `file` and `args` are
   * then ignored.
   */
  readonly shellScript?: string;
  /** Launcher of the shell of `shellScript`. */
  readonly launcher?: ShellLauncher;
  /**
   * Key of an open jail to which the child is bound. If it is not open, `started` rejects with `ENOJAIL` as the cause.
   */
  readonly jail?: string;
  /**
   * Absolute path. A shell writes the real folder it ended in here, with a line break, also when its script calls
   * `exit`; not when it was killed or replaced by `exec`.
   */
  readonly cwdFile?: string;
  /**
   * Called with each chunk as it arrives, in order per stream. A returned promise pauses the pipe until it settles, so
   * that a slow reader stops a fast writer.
   */
  readonly onOutput?: (stream: OutputStream, chunk: Buffer) => void | Promise<void>;
}

/** Outcome of a child. */
export interface ProcessExit {
  /** `null` if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** True if members of its group still run; they do so until `killTree`. */
  readonly hasSurvivors?: boolean;
}

/** A running child, leader of a process group and session of its own. */
export interface HostedProcess {
  /** Resolves when it has started. @throws {GauntletError} `resource_exhausted` (EMFILE, EAGAIN, ENOMEM), `tool_failed` (ENOENT, EACCES). */
  readonly started: Promise<{ readonly pid: number }>;
  /**
   * Resolves when the leader has exited and its output up to then was passed to `onOutput`; children that hold the
   * pipes open do not delay it. Rejects only if `started` does.
   */
  readonly exited: Promise<ProcessExit>;
  /** Write to a piped stdin; resolves when the pipe has accepted it. */
  write(data: string | Uint8Array): Promise<void>;
  /** Close a piped stdin. */
  end(): void;
  /**
   * End the whole group and all processes with its marker: TERM, KILL after `killGraceMs`, then a sweep. Resolves when
   * none is left.
   */
  killTree(): Promise<void>;
  /** Send one signal to the group. */
  signal(signal: NodeJS.Signals): void;
}

/** Rules that bind a child to some paths (Landlock), and to a filter of system calls. */
export interface JailRules {
  /** Identifies the jail in a request; equal for jails that open the same files. */
  readonly key: string;
  /** Owner of the jail: opening another one for the same owner closes this one. */
  readonly owner: string;
  /** Absolute paths; they and everything below may be read and executed. Missing ones are skipped. */
  readonly reads: readonly string[];
  /** Absolute paths; everything below may be read and changed. */
  readonly writes: readonly string[];
  /** True to reject sockets too, and every change of a file other than its content. */
  readonly isReadOnly: boolean;
}

/** Jail support of this machine. */
export interface JailSupport {
  /** Reason for missing support, as a clause. */
  readonly missing?: string;
  /** User and group of commands in a read-only jail; absent: the server's own. */
  readonly userId?: number;
}

/** Opens jails in the process host. */
export interface JailHost {
  /** Query the support; resolves with `missing` if the host is lost. */
  jailSupport(): Promise<JailSupport>;
  /** Open a jail. @returns The reason, as a clause, if it failed. */
  openJail(rules: JailRules): Promise<string | undefined>;
}

/** Starts children in the process host. */
export interface ProcessHost {
  spawn(request: SpawnRequest): HostedProcess;
  /** Ends every child and the host itself. */
  close(): Promise<void>;
}
