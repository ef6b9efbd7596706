/**
 * What the file tools are handed by whoever wires the server.
 */
import type { Limits } from '../../config/limits.ts';
import type { LocatePath } from '../../src/tool/located-path.ts';
import type { FileHistory } from '../../src/files/history.ts';

/** Services of Read, Edit and Write. */
export interface FileToolServices {
  readonly locate: LocatePath;
  readonly limits: Limits;
  /** Keeps what was there before a write, and who wrote. */
  readonly history: FileHistory;
}
