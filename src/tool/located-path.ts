/**
 * A path of an input, and where it really lies.
 *
 * Tools name their paths as spelled; one algorithm (`src/files/scope.ts`) locates them, and the
 * decision judges what it found. Reading and writing then go through descriptors it opened.
 */
import type { SessionContext } from './session-context.ts';

/** What a tool reads or writes, for the path gate and the read-only rule. */
export interface PathUse {
  /** As spelled in the input; relative to the session's cwd. */
  readonly path: string;
  readonly access: 'read' | 'write';
  /** Files below it are read too, and the input does not say which: `grep -r`, what `find` hands to `xargs`. */
  readonly isTree?: boolean;
  /** The input does not say which path it is, and `/` stands for it: a link that `grep -R` follows, `cat "$name"`. */
  readonly isUnknown?: boolean;
  /** All that lies below it is changed or taken along, whatever its name: `rm -r`, `tar c`. */
  readonly isWhole?: boolean;
  /** Globs of names: of what lies below it, only files with such a name are read. Absent: any. */
  readonly names?: readonly string[];
}

/** Where a path lies. */
export interface LocatedPath {
  /** Absolute and normalised, links not followed: what people and rules spell. */
  readonly spelled: string;
  /** Absolute, links of every existing ancestor followed: what would be opened. Equal to `spelled` when refused. */
  readonly real: string;
  /** The real path lies in one of the session's working directories. */
  readonly isInside: boolean;
  /** The real path lies in the session's own folder: readable unasked, in every mode. */
  readonly isSessionFile: boolean;
  /** Names of all folders below it, where the use has `names`; absent where there are too many to look at. */
  readonly folderNames?: ReadonlySet<string>;
  /** Why the path may never be used (`/proc`, control characters, a device), as a message; present means deny. */
  readonly refusal?: string;
  /** Why writing here asks in every mode (`.git/`, start-up files, the server's settings, hard links); writes only. */
  readonly safety?: string;
}

/** Locates one path for one call. Touches the disk, changes nothing, never throws. */
export type LocatePath = (
  use: PathUse,
  where: { readonly session: SessionContext; readonly sessionFolder: string },
) => Promise<LocatedPath>;
