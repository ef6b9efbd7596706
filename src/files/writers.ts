/**
 * Who wrote a file last, as far as this server knows: a stale edit can then say by whom it was overtaken.
 *
 * One for all sessions, the only thing they share about files; it holds names, never content.
 */
import { LRUCache } from 'lru-cache';

/** Stands in the place of a tool's name where files were put back as they had been. */
export const UNDO = 'undo';

/** A call that wrote. */
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

/** @param limit Files remembered; beyond it the one used longest ago is forgotten. */
export function createWriterRegistry(limit: number): WriterRegistry {
  const writers = new LRUCache<string, Writer>({ max: limit });
  return {
    note: (real, writer) => void writers.set(real, writer),
    last: (real) => writers.get(real),
  };
}
