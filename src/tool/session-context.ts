/**
 * State of a session as one call sees it: frozen and versioned; a change creates the next version.
 *
 * A tool's `contextModifier` maps one version to the next; a running call keeps the one it started with.
 */
import type { JsonValue } from '../base/json.ts';
import type { ToolMode, ToolPermissionContext } from '../wire/permission-context.ts';

/** State of a file when the session last read or wrote it. */
export interface FileReadRecord {
  /** Real path. */
  readonly path: string;
  /** Milliseconds since 1970, from `fstat`. */
  readonly mtimeMs: number;
  readonly sizeBytes: number;
  /** SHA-256 of the whole file, hex; absent if only a page was read of a file too large to hash. */
  readonly sha256?: string;
  /** True if only a part of the file was shown, in all reads of this content together. */
  readonly isPartial: boolean;
  /** Line ranges shown of a partially read text: first and last line, in order, neither overlapping nor adjacent. */
  readonly shownLines?: readonly (readonly [first: number, last: number])[];
  /** True if a line was cut, because it is longer than Read shows. */
  readonly hasCutLines?: boolean;
}

/** Files that this session has read, by real path. Immutable: `with` returns the next version. */
export interface ReadState {
  get(path: string): FileReadRecord | undefined;
  /** Most recently read files, in no particular order; at most `limit`. */
  recent(limit: number): readonly FileReadRecord[];
  with(record: FileReadRecord): ReadState;
}

/**
 * Folder at the top of a repository that holds the worktrees of sessions. Deny and ask rules about a path hold for its
 * copies in there, too.
 */
export const WORKTREES_FOLDER = '.worktrees';

/** A git worktree that a session was moved to. */
export interface Worktree {
  /** Absolute real path. */
  readonly path: string;
  readonly branch: string;
  /** Working directory to which the session returns. */
  readonly originalCwd: string;
}

/** State of a session for one call. */
export interface SessionContext {
  /** Incremented by each change; the permission context has a version of its own. */
  readonly version: number;
  readonly permissions: ToolPermissionContext;
  /**
   * Absolute real path in which the session began, or to which a tool moved it. The working directories are this one
   * and the permission context's additional ones.
   */
  readonly root: string;
  /** Absolute real path that relative paths are resolved against; always inside a working directory. */
  readonly cwd: string;
  readonly toolMode: ToolMode;
  readonly readState: ReadState;
  readonly worktree?: Worktree;
  /**
   * Durable state of tools, by tool name: a todo list, schemas already sent. Deeply frozen; logged with each change.
   */
  readonly toolState: Readonly<Record<string, JsonValue>>;
}

/**
 * Maps a session context to the next. Pure: it is tried when its call has run, and applied in block order. The result
 * must satisfy the checks of an update over the wire; otherwise the call fails.
 */
export type ContextModifier = (context: SessionContext) => SessionContext;
