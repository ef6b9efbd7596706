/**
 * Retention: deletes old frames and old sessions, and keeps the data directory below its size limit.
 *
 * Runs periodically, in small steps between which other work proceeds. Frames are deleted only if a snapshot includes
 * them, sessions only if they are not in use.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Limits } from '../../../config/limits.ts';
import type { FrameLog, WeighedSession } from '../../log/frame-log.ts';

/** Sessions that are looked at in one turn of the event loop. */
const PAGE_SESSIONS = 100;

const DAY_MS = 86_400_000;
/** Above its limit the directory shrinks to this part of it, so that not every run removes one more session. */
const SHRINK_TO = 0.9;

/** Dependencies of retention. */
export interface RetentionParts {
  readonly log: FrameLog;
  readonly limits: Pick<Limits, 'retentionMs' | 'sessionDays' | 'sessionLogBytes' | 'dataBytes'>;
  /** Save every loaded session, so that snapshots include as many frames as possible. */
  saveAll(): Promise<void>;
  /** Repair a session after a crash, and save it. */
  settle(principal: string, sessionId: string): Promise<void>;
  /** Remove a session. @returns False if it is in use. */
  retire(sessionId: string): Promise<boolean>;
  /** Return the size of the folders of sessions, in bytes by session id. */
  folderSizes(): Promise<ReadonlyMap<string, number>>;
  /** Remove a session's folders. */
  removeFolder(sessionId: string): Promise<void>;
  onFault(error: unknown, what: string): void;
}

/** A session that is not removed for its age. */
interface Remaining extends Pick<WeighedSession, 'sessionId' | 'newest'> {
  readonly bytes: number;
}

/** Runs retention periodically until it is closed. */
export class Retention {
  readonly #parts: RetentionParts;
  readonly #timer: NodeJS.Timeout;
  /** Wall clock and monotonic clock at the start. */
  readonly #begunMs = { wall: Date.now(), monotonic: performance.now() };
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.look(), parts.limits.retentionMs).unref();
  }

  /** Run once; concurrent callers share the run in progress. Never rejects. */
  look(nowMs = this.#now()): Promise<void> {
    this.#looking ??= this.#look(nowMs)
      .catch((error: unknown) => this.#parts.onFault(error, 'Old sessions could not be looked through'))
      .finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** Resolves when the current step is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** Return the earlier of two clocks: a wall clock set ahead must not make everything old. */
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

  /** Remove sessions whose newest frame is too old, and trim the others. @returns Those that stay. */
  async #byAge(olderThan: string, folders: ReadonlyMap<string, number>): Promise<readonly Remaining[]> {
    const { log, retire } = this.#parts;
    const remaining: Remaining[] = [];
    let cursor: string | undefined;
    do {
      const page = log.weigh({ limit: PAGE_SESSIONS, cursor });
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

  /** Remove folders whose session was removed while the server ended. */
  async #removeOrphans(folders: ReadonlyMap<string, number>): Promise<void> {
    const { log, removeFolder } = this.#parts;
    for (const sessionId of folders.keys()) {
      if (this.#isClosed) return;
      if (log.find(sessionId) === undefined) await removeFolder(sessionId);
    }
  }

  /** Remove the least recently used sessions until the directory is small enough. */
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
