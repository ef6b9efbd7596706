/** Dependencies of the file tools. */
import type { Limits } from '../../config/limits.ts';
import type { LocatePath } from '../../src/tool/located-path.ts';
import type { FileHistory } from '../../src/files/history.ts';

/** Services of Read, Edit and Write. */
export interface FileToolServices {
  readonly locate: LocatePath;
  readonly limits: Limits;
  /** Stores the content before a write, and the last writer. */
  readonly history: FileHistory;
}
