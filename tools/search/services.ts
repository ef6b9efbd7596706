/**
 * What the search tools are handed by whoever wires the server.
 */
import type { Limits } from '../../config/limits.ts';
import type { LocatePath } from '../../src/tool/located-path.ts';
import type { Jail } from '../../src/process/jail/jail.ts';
import type { ProcessHost } from '../../src/process/process-host.ts';

/** Services of Glob and Grep. */
export interface SearchToolServices {
  readonly locate: LocatePath;
  readonly limits: Limits;
  /** Starts ripgrep. */
  readonly processHost: ProcessHost;
  /** Holds ripgrep where it searches inside the working directories; absent: nothing does. */
  readonly jail?: Jail;
  /** Absolute real folders and files no search looks into, but for the session's own folder: the server's own data. */
  readonly privateFolders?: readonly string[];
}
