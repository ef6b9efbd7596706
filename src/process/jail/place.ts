/**
 * Whose command a jail holds, and where that command may read.
 */
import type { SpawnRequest } from '../process-host.ts';
import type { Mount } from '../sandbox/bwrap.ts';

/** Rules that hide paths from reading. */
export interface ReadDenials {
  /** The version of the rules: another one is another jail. */
  readonly version: number;
  /** Whether a rule hides an absolute path. */
  isDenied(absolutePath: string): boolean;
  /** Whether a rule may hide anything below an absolute folder. */
  mayDenyBelow(absoluteFolder: string): boolean;
  /** Absolute paths that rules spell, as written: each rule that has one is about something at or below it. */
  places(): readonly string[];
}

/** One command's surroundings. */
export interface JailPlace {
  readonly principal: string;
  readonly sessionId: string;
  /** The working directories: absolute real paths. */
  readonly folders: readonly string[];
  /** Absolute; the session's spilled results, and its temporary files. */
  readonly sessionFolder: string;
  readonly denials: ReadDenials;
}

/** A jail that stands ready for one place. */
export interface OpenJail {
  /** Added to a request, it starts the child in the jail. */
  readonly request: Pick<SpawnRequest, 'jail' | 'launcher'>;
  /** User and group of the command; undefined: those of the server. */
  readonly userId: number | undefined;
}

/** How a jail is to be opened. */
export interface JailWish {
  /** Paths inside the working directories that must not be read. */
  readonly masks: readonly Mount[];
  /** Whether the working directories may be changed. */
  readonly isWritable: boolean;
  /** Make it anew, whatever is known of an earlier one. */
  readonly isFresh: boolean;
}

/** One way to hold a command. */
export interface JailMechanism {
  /** Why this machine does not have it, as a clause; undefined where it has. */
  missing(): Promise<string | undefined>;
  /**
   * Make the jail of a place, or find it.
   *
   * @throws {GauntletError} `contained` when it cannot be made.
   */
  open(place: JailPlace, wish: JailWish): Promise<OpenJail>;
}
