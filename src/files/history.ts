/**
 * The file history: bytes as they were before a session changed them, each content once, so that a change can be drawn
 * and taken back.
 *
 * It lies apart from the folder a session may read: what a rule hides stays hidden when it is overwritten.
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

/** Who wrote a file last, and kept bytes, by session and digest. */
export interface FileHistory {
  /** One for all sessions, so that a stale edit can name who overtook it. */
  readonly writers: WriterRegistry;
  /** Why a file of this size would not be kept, known without reading it. */
  refusal(sessionId: string, sizeBytes: number): Promise<NotKept | undefined>;
  /** Keep bytes. Never rejects: no edit is lost because its past cannot be kept. @returns Why they are not kept. */
  keep(sessionId: string, content: Uint8Array, sha256: string): Promise<NotKept | undefined>;
  /** Whether bytes with this digest are kept. */
  has(sessionId: string, sha256: string): boolean;
  /** Kept bytes; undefined where there are none, or not those any more. */
  read(sessionId: string, sha256: string): Promise<Buffer | undefined>;
  /** Forget all of a session. */
  remove(sessionId: string): Promise<void>;
}

/** What a history needs. */
export interface FileHistoryOptions {
  /** A session's own folder: absolute real path, private to the server; made on first use. */
  folder(sessionId: string): string;
  readonly limits: Pick<Limits, 'historyFileBytes' | 'historySessionBytes' | 'historySessions' | 'writerRecords'>;
}

const REASON_OF_CODE: Readonly<Record<string, NotKept>> = { enospc: 'disk_full', edquot: 'disk_full' };

/** Make the history of this server. */
export function createFileHistory({ folder, limits }: FileHistoryOptions): FileHistory {
  const usedBy = countedBytes(folder, limits.historySessions);
  const placeOf = (sessionId: string, sha256: string) => join(folder(sessionId), sha256);

  function has(sessionId: string, sha256: string): boolean {
    try {
      return statOf(placeOf(sessionId, sha256))?.isFile() === true;
    } catch {
      // What cannot be looked at cannot be read back either.
      return false;
    }
  }

  async function refusal(sessionId: string, sizeBytes: number): Promise<NotKept | undefined> {
    if (sizeBytes > limits.historyFileBytes) return 'too_large';
    try {
      const { bytes } = await usedBy.get(sessionId);
      return bytes + sizeBytes > limits.historySessionBytes ? 'history_full' : undefined;
    } catch {
      // A folder that cannot be counted cannot be written either.
      return 'disk_error';
    }
  }

  return {
    writers: createWriterRegistry(limits.writerRecords),
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
    read: (sessionId, sha256) => read(placeOf(sessionId, sha256), sha256, limits.historyFileBytes),
    async remove(sessionId) {
      usedBy.forget(sessionId);
      await rm(folder(sessionId), { recursive: true, force: true });
    },
  };
}

/** Bytes each session uses, counted on disk once; of `mostSessions` it is remembered. */
function countedBytes(folder: (sessionId: string) => string, mostSessions: number) {
  const counted = new LRUCache<string, Promise<{ bytes: number }>>({ max: mostSessions });
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

async function read(place: string, sha256: string, mostBytes: number): Promise<Buffer | undefined> {
  try {
    const content = await withCheckedFile(place, place, (file) => file.readWhole(mostBytes));
    // A power failure may have left less than was written.
    return sha256Of(content) === sha256 ? content : undefined;
  } catch (error) {
    if (isGauntletError(error, 'tool_failed')) return undefined;
    throw error;
  }
}

/** @returns Why it could not be written. */
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
