/**
 * What one call may see of its session: frozen, versioned, replaced and never changed.
 *
 * A tool's `contextModifier` maps one to the next; a running call keeps the one it started with.
 */
import type { JsonValue } from '../base/json.ts';
import type { ToolMode, ToolPermissionContext } from '../wire/permission-context.ts';

/** What was known of a file when the session last read or wrote it. */
export interface FileReadRecord {
  /** Real path. */
  readonly path: string;
  /** Milliseconds since 1970, from `fstat`. */
  readonly mtimeMs: number;
  readonly sizeBytes: number;
  /** sha256 of the whole file's bytes, hex; absent where only a page was read of a file too large to hash. */
  readonly sha256?: string;
  /** True when only part of the file was shown, in all reads of these bytes together. */
  readonly isPartial: boolean;
  /** Of a text shown in part: first and last line of what was shown, in order, not touching each other. */
  readonly shownLines?: readonly (readonly [first: number, last: number])[];
  /** A line was cut, since it is longer than Read shows. */
  readonly hasCutLines?: boolean;
}

/** Files this session has read, by real path. Immutable: `with` gives the next one. */
export interface ReadState {
  get(path: string): FileReadRecord | undefined;
  /** The files read last, in no particular order; at most `limit`. */
  recent(limit: number): readonly FileReadRecord[];
  with(record: FileReadRecord): ReadState;
}

/** A git worktree that a session was moved to. */
export interface Worktree {
  /** Absolute real path. */
  readonly path: string;
  readonly branch: string;
  /** Where the session goes back to. */
  readonly originalCwd: string;
}

/** What a call may see of its session. */
export interface SessionContext {
  /** One more with each change; the permission context has a version of its own. */
  readonly version: number;
  readonly permissions: ToolPermissionContext;
  /** Absolute real path the session began in, or was moved to by a tool. The working directories are this one and the permission context's additional ones. */
  readonly root: string;
  /** Absolute real path that relative paths start from; always inside a working directory. */
  readonly cwd: string;
  readonly toolMode: ToolMode;
  readonly readState: ReadState;
  readonly worktree?: Worktree;
  /** Durable state of tools, by tool name: a todo list, schemas already given out. Deeply frozen; logged with each change. */
  readonly toolState: Readonly<Record<string, JsonValue>>;
}

/**
 * Maps a session context to the next. Pure: it is tried when its call has run, and applied in block order. What it
 * makes is held to what an update over the wire is held to; a call whose modifier makes anything else has failed.
 */
export type ContextModifier = (context: SessionContext) => SessionContext;
