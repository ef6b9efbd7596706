/**
 * Sessions in memory: their heads, the tail of their rows, and readers that wait for more.
 *
 * The longest unused session is evicted, and read from the disk again when needed.
 */
import type { Seq } from '../wire/frames.ts';
import { Fifo, type SessionTail } from './log-tail.ts';
import type { RowStore } from './row-store.ts';
import type { SessionEntry } from './stored-session.ts';

/** One session in memory. */
export interface OpenSession {
  readonly id: string;
  readonly number: number;
  /** Lowest `seq` that retention has kept. */
  first: Seq;
  /** Highest `seq` on disk. */
  head: Seq;
  /** Time of the newest row on disk, ISO 8601; `undefined` until it is read or written. */
  lastAt: string | undefined;
  /** Highest `seq` passed to `append`; above `head` while an append waits for its commit. */
  reserved: Seq;
  /** Approximate length of the text appended since the last snapshot. */
  newBytes: number;
  readonly tail: SessionTail;
  /** Callbacks of readers at the head; each is called once, at the next commit or when the session or log ends. */
  readonly waiting: Set<() => void>;
}

/** Sessions by id, least recently used first. */
export class OpenSessions {
  readonly #store: RowStore;
  readonly #maxSessions: number;
  readonly #sessions = new Map<string, OpenSession>();

  constructor(store: RowStore, maxSessions: number) {
    this.#store = store;
    this.#maxSessions = maxSessions;
  }

  /** Return the session, read from the disk if necessary; `undefined` if there is none. */
  get(sessionId: string): OpenSession | undefined {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) {
      this.#sessions.delete(sessionId);
      this.#sessions.set(sessionId, known);
      return known;
    }
    const entry = this.#store.session(sessionId);
    return entry && this.#cache(sessionId, entry);
  }

  /** Return the session if it is in memory. */
  peek(sessionId: string): OpenSession | undefined {
    return this.#sessions.get(sessionId);
  }

  /** Create the entry of a session before its first append. */
  create(sessionId: string): OpenSession {
    return this.#cache(sessionId, { number: this.#store.newSessionNumber(), bounds: { first: 1, head: 0 } });
  }

  /** Record that retention deleted the frames before `first`. */
  trimmed(sessionId: string, first: Seq): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) session.first = Math.max(session.first, first);
  }

  /** Evict a session and wake its readers, which then read its state from the disk. */
  drop(session: OpenSession): void {
    this.#sessions.delete(session.id);
    wakeReaders(session);
  }

  /** Return to the state on disk after a failed commit, which may have failed after the data was written. */
  reset(session: OpenSession): void {
    const head = this.#headOnDisk(session);
    if (head !== session.head || head === 0) this.drop(session);
    else session.reserved = head;
  }

  /** Wake all readers, because the log closes. */
  wakeAll(): void {
    for (const session of this.#sessions.values()) wakeReaders(session);
  }

  #headOnDisk(session: OpenSession): Seq {
    try {
      return this.#store.session(session.id)?.bounds.head ?? 0;
    } catch {
      // After a failed write the read may fail too; acknowledged frames still count.
      return session.head;
    }
  }

  #cache(id: string, { number, bounds }: Pick<SessionEntry, 'number' | 'bounds'>): OpenSession {
    const session = {
      id,
      number,
      first: bounds.first,
      head: bounds.head,
      lastAt: undefined,
      reserved: bounds.head,
      newBytes: 0,
      tail: new Fifo() as SessionTail,
      waiting: new Set<() => void>(),
    };
    this.#sessions.set(id, session);
    if (this.#sessions.size > this.#maxSessions) this.#evictOne(session);
    return session;
  }

  /** Skips sessions with waiting readers or appends, whose number the connections bound. */
  #evictOne(kept: OpenSession): void {
    for (const session of this.#sessions.values()) {
      if (session.waiting.size > 0 || session.reserved !== session.head || session === kept) continue;
      this.#sessions.delete(session.id);
      return;
    }
  }
}

/** Wake all readers that wait in `session`. */
export function wakeReaders(session: OpenSession): void {
  // A woken reader runs later, in a microtask, so the set cannot grow meanwhile.
  for (const wake of session.waiting) wake();
  session.waiting.clear();
}
