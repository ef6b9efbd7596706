/**
 * The embedded log: SQLite behind the `FrameLog` interface.
 *
 * Checks which appends are permitted, and delegates the rest: commits, readers, sweeps.
 */
import { GauntletError } from '../base/errors.ts';
import type { NewFrame, Seq } from '../wire/frames.ts';
import { withDiskErrors } from './disk-errors.ts';
import type {
  FrameLog,
  LogBounds,
  LoggedFrame,
  LoggedSession,
  PageRequest,
  ReadOptions,
  SessionNotes,
  SessionPage,
  TrimGoal,
  WeighedSession,
} from './frame-log.ts';
import type { LogGap } from '../wire/session-replies.ts';
import { GroupCommit } from './group-commit.ts';
import { type LogOptions, type LogTables, openTables } from './log-tables.ts';
import { OpenSessions, type OpenSession } from './open-sessions.ts';
import { readSession } from './read-session.ts';
import type { RowScan } from './row-scan.ts';
import type { OpenSharedStore } from './shared-store.ts';
import type { SessionEntry } from './stored-session.ts';

/**
 * Open the log in `folder`, or create it, with the store that sessions of one principal share.
 *
 * @throws {GauntletError} `log_unavailable` if the disk fails; `invalid_setting` if a newer version wrote the log.
 */
export function openSqliteLog(
  options: LogOptions,
): FrameLog & { readonly store: OpenSharedStore; readonly scan: RowScan } {
  return new SqliteLog(options);
}

class SqliteLog implements FrameLog {
  readonly epoch: string;
  readonly store: OpenSharedStore;
  readonly scan: RowScan;
  readonly #tables: LogTables;
  readonly #sessions: OpenSessions;
  readonly #group: GroupCommit;
  #isClosed = false;

  constructor(options: LogOptions) {
    this.#tables = openTables(options);
    const { epoch, rows, sweeper, shared, bounds } = this.#tables;
    this.epoch = epoch;
    this.scan = this.#tables.scan;
    this.store = (principal, namespace) => shared.open(principal, namespace, () => this.#refuseIfClosed());
    this.#sessions = new OpenSessions(rows, bounds.heads);
    this.#group = new GroupCommit(rows, this.#sessions, bounds.tailBytes);
    void sweeper.sweep(() => rows.forgotten());
  }

  async append(sessionId: string, after: Seq, frames: readonly NewFrame[]): Promise<Seq> {
    this.#refuseIfClosed();
    return this.#group.append(this.#sessionToAppendTo(sessionId, after, frames), frames);
  }

  read(sessionId: string, after: Seq, options: ReadOptions): AsyncIterable<readonly LoggedFrame[]> {
    const { pageFrames, pageRows, pageChars } = this.#tables.bounds;
    const source = {
      pageFrames,
      pageRows,
      pageChars,
      session: () => (this.#isClosed ? undefined : withDiskErrors('read', () => this.#sessions.get(sessionId))),
      rowsAfter: ({ number }: OpenSession, seq: Seq, limit: number) =>
        withDiskErrors('read', () => this.#tables.rows.rowsAfter(number, seq, limit)),
      onGap: (gap: LogGap) => this.#tables.problems.gap(sessionId, gap),
    };
    return readSession(source, after, options);
  }

  bounds(sessionId: string): LogBounds | undefined {
    // Sessions in memory can be answered even when the log is closed or the disk is broken.
    const session = withDiskErrors('read', () => this.#sessions.get(sessionId));
    return session === undefined || session.head === 0 ? undefined : { first: session.first, head: session.head };
  }

  lastAt(sessionId: string): string | undefined {
    const known = this.#sessions.peek(sessionId);
    if (known?.lastAt !== undefined) return known.lastAt;
    const lastAt = withDiskErrors('read', () => this.#tables.rows.lastAt(sessionId));
    if (known) known.lastAt = lastAt;
    return lastAt;
  }

  list(principal: string, { limit, cursor }: PageRequest): SessionPage {
    this.#refuseIfClosed();
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : parseCursor(cursor);
    const numbered = withDiskErrors('list sessions of', () => this.#tables.rows.list(principal, limit, before));
    const sessions = numbered.flatMap((entry) => (entry.session ? [loggedSession(entry.session)] : []));
    return { sessions, ...nextCursor(numbered, limit) };
  }

  find(sessionId: string): LoggedSession | undefined {
    this.#refuseIfClosed();
    const entry = withDiskErrors('read', () => this.#tables.rows.session(sessionId));
    return entry && loggedSession(entry);
  }

  async save(sessionId: string, notes: SessionNotes): Promise<void> {
    this.#refuseIfClosed();
    const session = withDiskErrors('save notes in', () => this.#sessions.get(sessionId));
    if (session !== undefined) await this.#group.save(session, notes);
  }

  fact(sessionId: string, key: string): unknown {
    return withDiskErrors('read', () => {
      const session = this.#sessions.get(sessionId);
      return session && this.#tables.notes.fact(session.number, key);
    });
  }

  weigh({ limit, cursor }: PageRequest): SessionPage<WeighedSession> {
    this.#refuseIfClosed();
    const after = cursor === undefined ? 0 : parseCursor(cursor);
    const sessions = withDiskErrors('weigh sessions of', () => this.#tables.retention.weigh(after, limit));
    return { sessions, ...nextCursor(sessions, limit) };
  }

  async trim(sessionId: string, goal: TrimGoal): Promise<void> {
    this.#refuseIfClosed();
    const entry = withDiskErrors('trim', () => this.#tables.rows.session(sessionId));
    if (entry?.snapshot === undefined) return;
    const upTo = Math.min(entry.snapshot.seq, entry.bounds.head - 1);
    await this.#tables.sweeper.trim({
      number: entry.number,
      upTo,
      goal,
      onFirst: (first) => this.#sessions.trimmed(sessionId, first),
    });
  }

  usedBytes(): number {
    return withDiskErrors('weigh', () => this.#tables.retention.usedBytes());
  }

  sessionCount(): number {
    return withDiskErrors('weigh', () => this.#tables.retention.sessionCount());
  }

  async remove(sessionId: string): Promise<void> {
    this.#refuseIfClosed();
    this.#group.flush();
    const session = withDiskErrors('read', () => this.#sessions.get(sessionId));
    if (session === undefined) return;
    withDiskErrors('remove a session from', () => this.#tables.rows.forget(session.number));
    this.#sessions.drop(session);
    await this.#tables.sweeper.sweep(() => [session.number]);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#group.flush();
    this.#isClosed = true;
    this.#sessions.wakeAll();
    await this.#tables.sweeper.stop();
    withDiskErrors('close', () => this.#tables.rows.close());
  }

  #sessionToAppendTo(sessionId: string, after: Seq, frames: readonly NewFrame[]): OpenSession {
    const [first] = frames;
    if (first === undefined) throw new RangeError('Cannot append no frames');
    const known = withDiskErrors('append to', () => this.#sessions.get(sessionId));
    const head = known?.reserved ?? 0;
    if (head !== after) {
      throw new GauntletError(
        'fenced',
        `Cannot append to session "${sessionId}" after ${after}: its log ends at ${head}. Read it again first`,
      );
    }
    if (known !== undefined) return known;
    if (first.type !== 'opened')
      throw new TypeError(`Cannot begin session "${sessionId}" with a frame "${first.type}"`);
    return this.#sessions.create(sessionId);
  }

  #refuseIfClosed(): void {
    if (this.#isClosed)
      throw new GauntletError('shutting_down', 'Cannot use the log: it is closed. Connect again later');
  }
}

/** Remove the number that is internal to the tables. */
function loggedSession({ number: _number, ...session }: SessionEntry): LoggedSession {
  return session;
}

/** Parse a cursor, which is the number of the last session of a page. Other logs may use another format. */
function parseCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new GauntletError('invalid_request', 'Cannot list sessions: "cursor" is malformed. Begin without one');
}

function nextCursor(page: readonly { readonly number: number }[], limit: number): { readonly cursor?: string } {
  const last = page.at(-1);
  return last === undefined || page.length < limit ? {} : { cursor: String(last.number) };
}
