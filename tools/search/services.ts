/** Dependencies of the search tools. */
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
  /** Restricts ripgrep to the working directories when it searches inside them; absent if there is no jail. */
  readonly jail?: Jail;
  /**
   * Absolute real folders and files that no search enters, except for the session's own folder: the server's own data.
   */
  readonly privateFolders?: readonly string[];
}
