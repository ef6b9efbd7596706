/**
 * What one call may see of its session: frozen, versioned, replaced and never changed.
 *
 * A tool's `contextModifier` maps one to the next; a running call keeps the one it started with.
 */
import type { JsonValue } from './blocks.ts';
import type { ToolPermissionContext } from './permission-context.ts';

/** What was known of a file when the session last read or wrote it. */
export interface FileReadRecord {
  /** Real path. */
  readonly path: string;
  /** Milliseconds since 1970, from `fstat`. */
  readonly mtimeMs: number;
  readonly sizeBytes: number;
  /** sha256 of the whole file's bytes, hex; absent where only a page was read of a file too large to hash. */
  readonly sha256?: string;
  /** True when only part of the file was shown. */
  readonly isPartial: boolean;
}

/** Files this session has read, by real path. Immutable: `with` gives the next one. */
export interface ReadState {
  get(path: string): FileReadRecord | undefined;
  /** The files read last, in no particular order; at most `limit`. */
  recent(limit: number): readonly FileReadRecord[];
  with(record: FileReadRecord): ReadState;
}

/** Which tools a session sees: all, the three simple ones, or the REPL alone. */
export type ToolMode = 'normal' | 'simple' | 'repl';

/** What a call may see of its session. */
export interface SessionContext {
  /** One more with each change; the permission context has a version of its own. */
  readonly version: number;
  readonly permissions: ToolPermissionContext;
  /** Absolute real path the session began in. The working directories are this one and the permission context's additional ones. */
  readonly root: string;
  /** Absolute real path that relative paths start from; always inside a working directory. */
  readonly cwd: string;
  readonly toolMode: ToolMode;
  readonly readState: ReadState;
  /** A git worktree the session was moved to, if any. */
  readonly worktree?: { readonly path: string; readonly branch: string; readonly originalCwd: string };
  /** Durable state of tools, by tool name: a todo list, schemas already given out. Logged with each change. */
  readonly toolState: Readonly<Record<string, JsonValue>>;
}

/** Maps a session context to the next. Pure; runs in block order. */
export type ContextModifier = (context: SessionContext) => SessionContext;
