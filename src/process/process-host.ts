/**
 * What the rest of the server may ask of the process host: start a child, read it, end all it started.
 *
 * The host is a small process of its own, because a fork from the server would block the event loop
 * in proportion to the server's memory. When the server dies, it ends every group it started.
 */

/** Which pipe a chunk came from. */
export type OutputStream = 'stdout' | 'stderr';

/** What starts a shell in its stead and in its own surroundings: a sandbox. */
export interface ShellLauncher {
  /** Program and arguments; the shell's own follow. It must hand on descriptors and environment, and end with the shell. */
  readonly command: readonly string[];
  /** Opened for reading and handed to it as descriptors 4 and on: absolute. */
  readonly files?: readonly string[];
  /** What else must be the same for a shell started ahead to be used: which files the paths in `command` name. */
  readonly identity: string;
  /** Each process gets the limits of a jail; whoever reads as root reads as nobody. */
  readonly isLimited?: boolean;
}

/** How to start a child. */
export interface SpawnRequest {
  /** Program, by absolute path or by name on PATH; never given to a shell. */
  readonly file: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** Added to the allow-listed environment (PATH HOME LANG TERM TMPDIR and the call's marker). */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Real paths of regular files, handed to a program as descriptors 5 and on, never through a link. What is not there,
   * or no longer there, is /dev/null.
   */
  readonly files?: readonly string[];
  /** `null` (default): /dev/null. `pipe`: `write` and `end` reach it. */
  readonly stdin?: 'null' | 'pipe';
  /** Take a warm shell where one is ready: runs `bash --noprofile --norc -c script` in effect. Then `file` and `args` are ignored. */
  readonly shellScript?: string;
  /** Starts the shell of `shellScript`. */
  readonly launcher?: ShellLauncher;
  /** Key of an open jail, which the child is bound to. One that is not open fails as `started` does, with `ENOJAIL`. */
  readonly jail?: string;
  /**
   * Absolute. A shell writes the real folder it ended in here, and a line end, also when its script
   * calls `exit`; not when it was killed or replaced itself (`exec`).
   */
  readonly cwdFile?: string;
  /**
   * Called for each chunk, as it comes, in order per stream. A returned promise holds the pipe back
   * until it settles, so that a slow reader stops a fast writer.
   */
  readonly onOutput?: (stream: OutputStream, chunk: Buffer) => void | Promise<void>;
}

/** How a child ended. */
export interface ProcessExit {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It left members of its group behind; they run on until `killTree`. */
  readonly hasSurvivors?: boolean;
}

/** A running child, leader of a process group and session of its own. */
export interface HostedProcess {
  /** Resolves when it has started. @throws {GauntletError} `resource_exhausted` (EMFILE, EAGAIN, ENOMEM), `tool_failed` (ENOENT, EACCES). */
  readonly started: Promise<{ readonly pid: number }>;
  /**
   * Resolves when the leader has exited and its output up to then was handed to `onOutput`; children
   * that hold the pipes open do not delay it. Never rejects once `started` has resolved; rejects as `started` does.
   */
  readonly exited: Promise<ProcessExit>;
  /** Write to a piped stdin; resolves when the pipe has taken it. */
  write(data: string | Uint8Array): Promise<void>;
  /** Close a piped stdin. */
  end(): void;
  /** End the whole group and whatever carries its marker: TERM, after `killGraceMs` KILL, then a sweep. Resolves when none is left. */
  killTree(): Promise<void>;
  /** One signal to the group. */
  signal(signal: NodeJS.Signals): void;
}

/** Rules that bind a child to some paths (Landlock), and to a filter of system calls. */
export interface JailRules {
  /** Names the jail in a request; equal for jails that open the same files. */
  readonly key: string;
  /** Whose jail it is: opening another one for the same owner closes this one. */
  readonly owner: string;
  /** Absolute; read and executed, what lies below too. Those that do not exist are passed over. */
  readonly reads: readonly string[];
  /** Absolute; read and changed. */
  readonly writes: readonly string[];
  /** Refuses sockets too, and every change of a file beside its content. */
  readonly isReadOnly: boolean;
}

/** Jails that this machine can have. */
export interface JailSupport {
  /** Why there are none, as a clause. */
  readonly missing?: string;
  /** User and group of whoever runs in a jail that only reads; absent: the server's own. */
  readonly userId?: number;
}

/** Opens jails in the small process. */
export interface JailHost {
  /** Ask what there is; resolves with `missing` where the host is lost. */
  jailSupport(): Promise<JailSupport>;
  /** Open a jail. @returns Why it could not be, as a clause. */
  openJail(rules: JailRules): Promise<string | undefined>;
}

/** Starts children in the small process. */
export interface ProcessHost {
  spawn(request: SpawnRequest): HostedProcess;
  /** Ends every child and the host itself. */
  close(): Promise<void>;
}
