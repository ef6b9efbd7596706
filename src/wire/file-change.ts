/**
 * What a call does to a file, as the session's log keeps it and the wire shows it: enough to draw it, and to take it
 * back. The bytes themselves stand in the file history, by their digest.
 */

/** A regular file as it stood at one moment. */
export interface FileState {
  /** Hex, of all its bytes; absent where nobody looked at them: too large, or not a regular file. */
  readonly sha256?: string;
  readonly size_bytes: number;
  /** Permission bits in octal, as `0644`. */
  readonly mode: string;
}

/** What became of a file. `none` takes an announced change back: it was not made. */
export type ChangeKind = 'created' | 'modified' | 'deleted' | 'none';

/** Why a change cannot be taken back: the bytes before it were not kept, or nobody foresaw it and it may be somebody else's. */
export type NotKept = 'too_large' | 'history_full' | 'disk_full' | 'disk_error' | 'not_foreseen';

/** One file changed by one call, in wire shape. */
export interface FileChange {
  /** Absolute real path. */
  readonly path: string;
  readonly kind: ChangeKind;
  /** Absent: there was nothing. */
  readonly before?: FileState;
  /** Absent: there is nothing. */
  readonly after?: FileState;
  /** Folders that were missing on the way to the file, the outermost first. */
  readonly folders?: readonly string[];
  readonly undoable: boolean;
  /** Why not. */
  readonly reason?: NotKept;
}

/** Where a call says what it does to files. */
export interface ChangeLog {
  /**
   * Before a file is touched.
   *
   * @returns Once it is on disk: a crash cannot leave a change behind that nobody knows of.
   * @throws {GauntletError} `log_unavailable`, `fenced`: the file must not be touched.
   */
  announce(change: FileChange): Promise<void>;
  /** After the fact, or to correct what was announced. Not lost if the disk refuses it at first. */
  report(changes: readonly FileChange[]): void;
}
