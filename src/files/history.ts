/**
 * File history: contents before a session changed them, each stored once, so that a change can be shown and undone.
 *
 * It is stored outside the folder that a session may read, so that files hidden by a rule stay hidden after they are
 * overwritten.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Limits } from '../../config/limits.ts';
import type { NotKept } from '../wire/file-change.ts';
import { isGauntletError } from '../base/errors.ts';
import { sha256Of } from './file-state.ts';
import { statOf } from './file-stats.ts';
import { withCheckedFile } from './open-checked.ts';
import { privateWrite } from './private-write.ts';
import { errorCode } from './real-path.ts';
import { createWriterRegistry, type WriterRegistry } from './writers.ts';

/** Size of a file whose content before a change is kept; a change of a larger one cannot be undone. */
const MAX_FILE_BYTES = 16 * 1_024 * 1_024;

/** Sessions whose kept bytes are remembered; those of others are counted on disk again. */
const MAX_SESSIONS = 1_000;

/** Files whose last writer is remembered, for all sessions together. */
const MAX_WRITERS = 10_000;

/** Last writers of files, and stored bytes, by session and digest. */
export interface FileHistory {
  /** Shared by all sessions, so that an edit of an outdated file can name the later writer. */
  readonly writers: WriterRegistry;
  /** Return the reason why a file of this size would not be stored, without reading it. */
  refusal(sessionId: string, sizeBytes: number): Promise<NotKept | undefined>;
  /**
   * Store bytes. Never rejects: an edit must not fail because its history cannot be stored.
   *
   * @returns Reason if not stored.
   */
  keep(sessionId: string, content: Uint8Array, sha256: string): Promise<NotKept | undefined>;
  /** Report whether bytes with this digest are stored. */
  has(sessionId: string, sha256: string): boolean;
  /** Return stored bytes; undefined if there are none, or they are damaged. */
  read(sessionId: string, sha256: string): Promise<Buffer | undefined>;
  /** Delete everything of a session. */
  remove(sessionId: string): Promise<void>;
}

/** Dependencies of a history. */
export interface FileHistoryOptions {
  /** Return a session's folder: absolute real path, private to the server; created on first use. */
  folder(sessionId: string): string;
  readonly limits: Pick<Limits, 'historySessionBytes'>;
  /** Largest file that is kept. */
  readonly maxFileBytes?: number;
}

const REASON_OF_CODE: Readonly<Record<string, NotKept>> = { enospc: 'disk_full', edquot: 'disk_full' };

/** Create the history of this server. */
export function createFileHistory({ folder, limits, maxFileBytes = MAX_FILE_BYTES }: FileHistoryOptions): FileHistory {
  const usedBy = countedBytes(folder);
  const placeOf = (sessionId: string, sha256: string) => join(folder(sessionId), sha256);

  function has(sessionId: string, sha256: string): boolean {
    try {
      return statOf(placeOf(sessionId, sha256))?.isFile() === true;
    } catch {
      // Content that cannot be examined cannot be read back either.
      return false;
    }
  }

  async function refusal(sessionId: string, sizeBytes: number): Promise<NotKept | undefined> {
    if (sizeBytes > maxFileBytes) return 'too_large';
    try {
      const { bytes } = await usedBy.get(sessionId);
      return bytes + sizeBytes > limits.historySessionBytes ? 'history_full' : undefined;
    } catch {
      // A folder that cannot be counted cannot be written either.
      return 'disk_error';
    }
  }

  return {
    writers: createWriterRegistry(MAX_WRITERS),
    refusal,
    has,
    async keep(sessionId, content, sha256) {
      if (has(sessionId, sha256)) return undefined;
      const refused = await refusal(sessionId, content.length);
      if (refused !== undefined) return refused;
      const used = await usedBy.get(sessionId);
      used.bytes += content.length;
      const problem = await write(placeOf(sessionId, sha256), content);
      if (problem !== undefined) used.bytes -= content.length;
      return problem;
    },
    read: (sessionId, sha256) => read(placeOf(sessionId, sha256), sha256, maxFileBytes),
    async remove(sessionId) {
      usedBy.forget(sessionId);
      await rm(folder(sessionId), { recursive: true, force: true });
    },
  };
}

/** Track the bytes that each session uses, counted on the disk once and cached. */
function countedBytes(folder: (sessionId: string) => string) {
  const counted = new LRUCache<string, Promise<{ bytes: number }>>({ max: MAX_SESSIONS });
  return {
    get(sessionId: string): Promise<{ bytes: number }> {
      const known = counted.get(sessionId);
      if (known) return known;
      const counting = countBytes(folder(sessionId)).then((bytes) => ({ bytes }));
      counted.set(sessionId, counting);
      counting.catch(() => counted.delete(sessionId));
      return counting;
    },
    forget: (sessionId: string) => void counted.delete(sessionId),
  };
}

async function read(place: string, sha256: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    const content = await withCheckedFile(place, place, (file) => file.readWhole(maxBytes));
    // After a power failure the file may be incomplete.
    return sha256Of(content) === sha256 ? content : undefined;
  } catch (error) {
    if (isGauntletError(error, 'tool_failed')) return undefined;
    throw error;
  }
}

/** @returns Reason if it could not be written. */
async function write(real: string, content: Uint8Array): Promise<NotKept | undefined> {
  try {
    await privateWrite(real, content);
    return undefined;
  } catch (error) {
    const reason = isGauntletError(error) ? error.details?.reason : undefined;
    return REASON_OF_CODE[reason ?? ''] ?? 'disk_error';
  }
}

async function countBytes(folder: string): Promise<number> {
  try {
    const names = await readdir(folder);
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}
