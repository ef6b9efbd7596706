/**
 * A path of an input, and its location on disk.
 *
 * Tools declare their paths as spelled; one algorithm (`src/files/scope.ts`) locates them, and the decision uses its
 * result. Reading and writing then use the descriptors it opened.
 */
import type { SessionContext } from './session-context.ts';

/** A path that a tool reads or writes, for the path gate and the read-only rule. */
export interface PathUse {
  /** As spelled in the input; relative to the session's cwd. */
  readonly path: string;
  readonly access: 'read' | 'write';
  /** True if files below it are read that the input does not name: `grep -r`, `find … | xargs`. */
  readonly isTree?: boolean;
  /**
   * True if the input does not determine the path, for which `/` is used: a link that `grep -R` follows, `cat "$name"`.
   */
  readonly isUnknown?: boolean;
  /** True if everything below it is changed or included, whatever its name: `rm -r`, `tar c`. */
  readonly isWhole?: boolean;
  /** Globs of names: below the path, only files with such a name are read. Absent: any. */
  readonly names?: readonly string[];
}

/** Location of a path. */
export interface LocatedPath {
  /** Absolute and normalised, links not followed: the form that people and rules use. */
  readonly spelled: string;
  /**
   * Absolute, links of every existing ancestor followed: the path that would be opened. Equal to `spelled` if refused.
   */
  readonly real: string;
  /** True if the real path is in one of the session's working directories. */
  readonly isInside: boolean;
  /** True if the real path is in the session's own folder: readable without a question in every mode. */
  readonly isSessionFile: boolean;
  /** Names of all folders below it, if the use has `names`; absent if there are too many to list. */
  readonly folderNames?: ReadonlySet<string>;
  /**
   * Message why the path may never be used (`/proc`, control characters, a device); if present, the decision is deny.
   */
  readonly refusal?: string;
  /**
   * Reason why writing here is a question in every mode (`.git/`, start-up files, the server's settings, hard links);
   * writes only.
   */
  readonly safety?: string;
}

/** Locates one path for one call. Reads the disk, changes nothing, never throws. */
export type LocatePath = (
  use: PathUse,
  where: { readonly session: SessionContext; readonly sessionFolder: string },
) => Promise<LocatedPath>;
