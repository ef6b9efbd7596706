/**
 * Types of a jailed command's place: its session, its readable folders, and the mechanisms that enforce them.
 */
import type { SpawnRequest } from '../process-host.ts';
import type { Mount } from '../sandbox/bwrap.ts';

/** Rules that hide paths from reading. */
export interface ReadDenials {
  /** Version of the rules; another version needs another jail. */
  readonly version: number;
  /** True if a rule hides an absolute path. */
  isDenied(absolutePath: string): boolean;
  /** True if a rule may hide anything below an absolute folder. */
  mayDenyBelow(absoluteFolder: string): boolean;
  /** Absolute paths named by rules, as written; each such rule matches only at or below its path. */
  places(): readonly string[];
}

/** Session, folders and denials that apply to one command. */
export interface JailPlace {
  readonly principal: string;
  readonly sessionId: string;
  /** Absolute real paths of the working directories. */
  readonly folders: readonly string[];
  /** Absolute path of the session's spilled results and temporary files. */
  readonly sessionFolder: string;
  readonly denials: ReadDenials;
}

/** A jail that is open for one place. */
export interface OpenJail {
  /** Members of a request that start the child in the jail. */
  readonly request: Pick<SpawnRequest, 'jail' | 'launcher'>;
  /** Program that bounds a program started by itself, where `request` has a launcher, which is for shells only. */
  readonly programLauncher?: { readonly command: readonly string[]; readonly files: readonly string[] };
  /** User and group of the command; `undefined`: those of the server. */
  readonly userId: number | undefined;
}

/** Options for opening a jail. */
export interface OpenJailOptions {
  /** Mounts over paths in the working directories that must not be read. */
  readonly masks: readonly Mount[];
  /** True if the working directories may be changed. */
  readonly isWritable: boolean;
  /** True to open it anew, even if an earlier one is cached. */
  readonly isFresh: boolean;
}

/** One way to contain a command. */
export interface JailMechanism {
  /** Reason why this machine does not support it, as a clause; `undefined` if it does. */
  missing(): Promise<string | undefined>;
  /**
   * Open the jail of a place, or reuse it.
   *
   * @throws {GauntletError} `contained` if it cannot be opened.
   */
  open(place: JailPlace, wish: OpenJailOptions): Promise<OpenJail>;
}
