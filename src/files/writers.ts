/**
 * Records the last writer of each file on this server, so that an edit of an outdated file can name it.
 *
 * Shared by all sessions; it holds names, never content.
 */
import { LRUCache } from 'lru-cache';

/** Recorded in place of a tool's name if files were restored by an undo. */
export const UNDO = 'undo';

/** The call that wrote a file. */
export interface Writer {
  readonly sessionId: string;
  readonly principal: string;
  readonly toolName: string;
}

/** The last writers of files, by real path. */
export interface WriterRegistry {
  note(real: string, writer: Writer): void;
  last(real: string): Writer | undefined;
}

/** Create a registry. @param limit Number of files remembered; beyond it the least recently used is dropped. */
export function createWriterRegistry(limit: number): WriterRegistry {
  const writers = new LRUCache<string, Writer>({ max: limit });
  return {
    note: (real, writer) => void writers.set(real, writer),
    last: (real) => writers.get(real),
  };
}
