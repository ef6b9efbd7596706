/**
 * Retention: old frames go, old sessions go, and the data directory stays below its size.
 *
 * Looked at now and then, in small steps between which everything else runs. Nothing goes that a session
 * still needs: frames only as far as a snapshot stands for them, sessions only when nobody uses them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Limits } from '../../../config/limits.ts';
import type { FrameLog, WeighedSession } from '../../log/frame-log.ts';

const DAY_MS = 86_400_000;
/** Past its size the directory shrinks to this part of it, so that not every look removes one more session. */
const SHRINK_TO = 0.9;

/** What retention works with. */
export interface RetentionParts {
  readonly log: FrameLog;
  readonly limits: Pick<Limits, 'retentionMs' | 'retentionPage' | 'sessionDays' | 'sessionLogBytes' | 'dataBytes'>;
  /** Save every session in memory, so that snapshots stand for as much as they can. */
  saveAll(): Promise<void>;
  /** Bring a session in order that a crash left behind, and save it. */
  settle(principal: string, sessionId: string): Promise<void>;
  /** Remove a session that nobody uses. @returns False when somebody does. */
  retire(sessionId: string): Promise<boolean>;
  /** Bytes of the folders of sessions, by session id. */
  folderSizes(): Promise<ReadonlyMap<string, number>>;
  /** Remove a session's folders. */
  removeFolder(sessionId: string): Promise<void>;
  onFault(error: unknown, what: string): void;
}

/** A session that stays, as far as its age goes. */
interface Remaining extends Pick<WeighedSession, 'sessionId' | 'newest'> {
  readonly bytes: number;
}

/** Looks now and then until it is closed. */
export class Retention {
  readonly #parts: RetentionParts;
  readonly #timer: NodeJS.Timeout;
  /** The clock on the wall and the monotonic one, at the start. */
  readonly #begunMs = { wall: Date.now(), monotonic: performance.now() };
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.look(), parts.limits.retentionMs).unref();
  }

  /** Look once; whoever asks meanwhile waits for the look in hand. Never rejects. */
  look(nowMs = this.#now()): Promise<void> {
    this.#looking ??= this.#look(nowMs)
      .catch((error: unknown) => this.#parts.onFault(error, 'Old sessions could not be looked through'))
      .finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** Resolves when the step in hand is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** A clock that somebody set ahead must not make everything old: the earlier of two clocks counts. */
  #now(): number {
    return Math.min(Date.now(), this.#begunMs.wall + performance.now() - this.#begunMs.monotonic);
  }

  async #look(nowMs: number): Promise<void> {
    const { limits, saveAll, folderSizes } = this.#parts;
    await saveAll();
    const olderThan = new Date(nowMs - limits.sessionDays * DAY_MS).toISOString();
    const folders = await folderSizes();
    const remaining = await this.#byAge(olderThan, folders);
    await this.#removeOrphans(folders);
    await this.#bySize(remaining, folders);
  }

  /** Retire sessions that are wholly too old, trim the others. @returns Those that stay. */
  async #byAge(olderThan: string, folders: ReadonlyMap<string, number>): Promise<readonly Remaining[]> {
    const { log, limits, retire } = this.#parts;
    const remaining: Remaining[] = [];
    let cursor: string | undefined;
    do {
      const page = log.weigh({ limit: limits.retentionPage, cursor });
      for (const session of page.sessions) {
        if (this.#isClosed) return [];
        const { sessionId, newest } = session;
        if (newest < olderThan && (await retire(sessionId))) continue;
        await this.#trim(session, olderThan);
        remaining.push({ sessionId, newest, bytes: session.bytes + (folders.get(sessionId) ?? 0) });
      }
      cursor = page.cursor;
      await nextTurn();
    } while (cursor !== undefined);
    return remaining;
  }

  async #trim(session: WeighedSession, olderThan: string): Promise<void> {
    const { log, limits, settle } = this.#parts;
    const { sessionId, principal, oldest, bounds, snapshotSeq } = session;
    const bytes = Math.max(0, session.bytes - limits.sessionLogBytes);
    if (oldest >= olderThan && bytes === 0) return;
    if (snapshotSeq < bounds.head) await settle(principal, sessionId);
    await log.trim(sessionId, { olderThan, bytes });
  }

  /** Folders whose session went while the server ended. */
  async #removeOrphans(folders: ReadonlyMap<string, number>): Promise<void> {
    const { log, removeFolder } = this.#parts;
    for (const sessionId of folders.keys()) {
      if (this.#isClosed) return;
      if (log.find(sessionId) === undefined) await removeFolder(sessionId);
    }
  }

  /** Retire sessions, the longest unused first, until the directory is small enough again. */
  async #bySize(remaining: readonly Remaining[], folders: ReadonlyMap<string, number>): Promise<void> {
    const { log, limits, retire } = this.#parts;
    let folderBytes = [...folders.values()].reduce((sum, bytes) => sum + bytes, 0);
    if (log.usedBytes() + folderBytes <= limits.dataBytes) return;
    for (const { sessionId } of remaining.toSorted((one, other) => (one.newest < other.newest ? -1 : 1))) {
      if (this.#isClosed || log.usedBytes() + folderBytes <= SHRINK_TO * limits.dataBytes) return;
      if (await retire(sessionId)) folderBytes -= folders.get(sessionId) ?? 0;
    }
  }
}
