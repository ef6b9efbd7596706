/**
 * What the file tools are handed by whoever wires the server.
 */
import type { Limits } from '../../config/limits.ts';
import type { LocatePath } from '../../src/contract/located-path.ts';
import type { FileHistory } from '../../src/files/history.ts';
import type { WriterRegistry } from '../../src/files/writers.ts';

/** Services of Read, Edit and Write. */
export interface FileToolServices {
  readonly locate: LocatePath;
  readonly limits: Limits;
  /** One for all sessions, so that a stale edit can name who overtook it. */
  readonly writers: WriterRegistry;
  /** Keeps what was there before a write. */
  readonly history: FileHistory;
}
