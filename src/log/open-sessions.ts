/**
 * The sessions the log has at hand: heads, the rows in memory, and who waits for more.
 *
 * A session that nobody used for long is dropped from here and read from the disk again when needed.
 */
import type { Seq } from '../wire/frames.ts';
import { Fifo, type SessionTail } from './log-tail.ts';
import type { RowStore } from './row-store.ts';
import type { SessionEntry } from './stored-session.ts';

/** One session at hand. */
export interface OpenSession {
  readonly id: string;
  readonly number: number;
  /** Lowest frame that retention has left. */
  first: Seq;
  /** Last frame on disk. */
  head: Seq;
  /** Last frame handed to `append`; beyond `head` while an append waits for its commit. */
  reserved: Seq;
  /** Text appended since the last snapshot, about. */
  newBytes: number;
  readonly tail: SessionTail;
  /** Readers at the head; each is called once, at the next commit or at the end. */
  readonly waiting: Set<() => void>;
}

/** Sessions by id, the one longest unused first. */
export class OpenSessions {
  readonly #store: RowStore;
  readonly #maxSessions: number;
  readonly #sessions = new Map<string, OpenSession>();

  constructor(store: RowStore, maxSessions: number) {
    this.#store = store;
    this.#maxSessions = maxSessions;
  }

  /** The session, from the disk if need be; undefined when there is none. */
  get(sessionId: string): OpenSession | undefined {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) {
      this.#sessions.delete(sessionId);
      this.#sessions.set(sessionId, known);
      return known;
    }
    const entry = this.#store.session(sessionId);
    return entry && this.#keep(sessionId, entry);
  }

  /** A session that its first append is about to create. */
  create(sessionId: string): OpenSession {
    return this.#keep(sessionId, { number: this.#store.newSessionNumber(), bounds: { first: 1, head: 0 } });
  }

  /** Retention has taken what comes before `first`. */
  trimmed(sessionId: string, first: Seq): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) session.first = Math.max(session.first, first);
  }

  /** Let go of a session and wake its readers, who will find it as the disk has it. */
  drop(session: OpenSession): void {
    this.#sessions.delete(session.id);
    wakeReaders(session);
  }

  /** After a commit that failed: the session ends where the disk says, for a failure may come after the fact. */
  reset(session: OpenSession): void {
    const head = this.#headOnDisk(session);
    if (head !== session.head || head === 0) this.drop(session);
    else session.reserved = head;
  }

  /** Wake every reader there is: the log closes. */
  wakeAll(): void {
    for (const session of this.#sessions.values()) wakeReaders(session);
  }

  #headOnDisk(session: OpenSession): Seq {
    try {
      return this.#store.session(session.id)?.bounds.head ?? 0;
    } catch {
      // A disk that takes nothing may give nothing either; what was acknowledged still stands.
      return session.head;
    }
  }

  #keep(id: string, { number, bounds }: Pick<SessionEntry, 'number' | 'bounds'>): OpenSession {
    const session = {
      id,
      number,
      first: bounds.first,
      head: bounds.head,
      reserved: bounds.head,
      newBytes: 0,
      tail: new Fifo() as SessionTail,
      waiting: new Set<() => void>(),
    };
    this.#sessions.set(id, session);
    if (this.#sessions.size > this.#maxSessions) this.#dropOneUnused(session);
    return session;
  }

  /** Passes over the sessions that someone waits in; readers and appends are bounded by the connections. */
  #dropOneUnused(kept: OpenSession): void {
    for (const session of this.#sessions.values()) {
      if (session.waiting.size > 0 || session.reserved !== session.head || session === kept) continue;
      this.#sessions.delete(session.id);
      return;
    }
  }
}

/** Call everyone who waits in `session`. */
export function wakeReaders(session: OpenSession): void {
  // A woken reader runs later, in a microtask, so the set cannot grow meanwhile.
  for (const wake of session.waiting) wake();
  session.waiting.clear();
}
