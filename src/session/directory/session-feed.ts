/**
 * News of a principal's sessions for those who watch its list: each session's record after it changed.
 *
 * Changes are collected for a moment and described once for all readers. A reader holds at most the latest record of
 * each session, and is told to list again if those are too many.
 */
import type { FrameLog } from '../../log/frame-log.ts';
import { observedLog } from '../../log/observed-log.ts';
import type { SessionDescription } from '../../wire/session-replies.ts';

/** One piece of news. */
export type SessionNews =
  | { readonly kind: 'session'; readonly session: SessionDescription }
  | { readonly kind: 'removed'; readonly sessionId: string }
  /** News was dropped: the list has to be read again. */
  | { readonly kind: 'resync' };

/** Functions of the directory that a feed uses. */
export interface FeedSource {
  /** Return the principal of a session in memory. */
  principalOf(sessionId: string): string | undefined;
  /** Describe a session; `undefined` if there is none that the principal may see. */
  describe(principal: string, sessionId: string): Promise<SessionDescription | undefined>;
  onFault(error: unknown, what: string): void;
}

/** Time for which changes are collected; a person sees no difference. */
const COLLECT_MS = 200;

/** Sessions described in one go, since each blocks the event loop for a moment; others follow after the next time. */
const MAX_DESCRIBED = 100;

/** Sessions of which one reader may have news waiting. */
const MAX_PENDING = 1_000;

/** Feeds of all principals that have readers. */
export class SessionFeeds {
  readonly #source: FeedSource;
  readonly #feeds = new Map<string, Feed>();

  constructor(source: FeedSource) {
    this.#source = source;
  }

  /** Wrap a log, to hear of what is written to it and removed from it. */
  observe(log: FrameLog): FrameLog {
    const recordFrames = (sessionId: string) => this.changed(sessionId);
    const recordRemoval = (sessionId: string, principal = '') => this.#feeds.get(principal)?.removed(sessionId);
    return observedLog(log, [{ recordFrames, recordRemoval }]);
  }

  /** Tell readers of a session's change. */
  changed(sessionId: string): void {
    if (this.#feeds.size === 0) return;
    const principal = this.#source.principalOf(sessionId);
    if (principal !== undefined) this.#feeds.get(principal)?.changed(sessionId);
  }

  /** Yield the news of a principal's sessions from now on, until `signal` aborts. */
  async *watch(principal: string, signal: AbortSignal): AsyncGenerator<readonly SessionNews[]> {
    const feed = this.#feeds.get(principal) ?? new Feed(principal, this.#source);
    this.#feeds.set(principal, feed);
    const reader = feed.join();
    const wake = () => reader.wake();
    signal.addEventListener('abort', wake, { once: true });
    try {
      while (!signal.aborted) {
        const news = reader.take();
        if (news.length > 0) yield news;
        else await reader.waitForNews();
      }
    } finally {
      signal.removeEventListener('abort', wake);
      if (feed.leave(reader) === 0) this.#feeds.delete(principal);
    }
  }
}

/** Readers of one principal's sessions. */
class Feed {
  readonly #principal: string;
  readonly #source: FeedSource;
  readonly #readers = new Set<Reader>();
  readonly #changed = new Set<string>();
  /** Sessions that were not idle when they were last described: their state may change after their last frame. */
  readonly #active = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(principal: string, source: FeedSource) {
    this.#principal = principal;
    this.#source = source;
  }

  join(): Reader {
    const reader = new Reader();
    this.#readers.add(reader);
    return reader;
  }

  /** @returns The number of readers left. */
  leave(reader: Reader): number {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) clearTimeout(this.#timer);
    return this.#readers.size;
  }

  changed(sessionId: string): void {
    this.#changed.add(sessionId);
    this.#schedule();
  }

  removed(sessionId: string): void {
    this.#changed.delete(sessionId);
    this.#active.delete(sessionId);
    this.#tell(sessionId, { kind: 'removed', sessionId });
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      void this.#describeChanged().catch((error: unknown) =>
        this.#source.onFault(error, 'News of a session could not be told'),
      );
    }, COLLECT_MS).unref();
  }

  async #describeChanged(): Promise<void> {
    const due = new Set([...this.#changed, ...this.#active.keys()].slice(0, MAX_DESCRIBED));
    const changed = [...due].filter((id) => this.#changed.delete(id));
    try {
      for (const id of due) await this.#describe(id, changed.includes(id));
    } finally {
      this.#timer = undefined;
      if (this.#readers.size > 0 && this.#changed.size + this.#active.size > 0) this.#schedule();
    }
  }

  async #describe(sessionId: string, isChanged: boolean): Promise<void> {
    const session = await this.#source.describe(this.#principal, sessionId);
    const before = this.#active.get(sessionId);
    const now = session && `${session.state} ${session.head} ${session.running.length}`;
    if (session === undefined || session.state === 'idle') this.#active.delete(sessionId);
    else this.#active.set(sessionId, now ?? '');
    if (session && (isChanged || before !== now)) this.#tell(sessionId, { kind: 'session', session });
  }

  #tell(sessionId: string, news: SessionNews): void {
    for (const reader of this.#readers) reader.push(sessionId, news);
  }
}

/** News that one reader has not taken yet. */
class Reader {
  readonly #pending = new Map<string, SessionNews>();
  #wake: (() => void) | undefined;

  push(sessionId: string, news: SessionNews): void {
    if (this.#pending.size >= MAX_PENDING && !this.#pending.has(sessionId)) {
      this.#pending.clear();
      this.#pending.set('', { kind: 'resync' });
    }
    this.#pending.set(sessionId, news);
    this.wake();
  }

  take(): readonly SessionNews[] {
    const news = [...this.#pending.values()];
    this.#pending.clear();
    return news;
  }

  waitForNews(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
