/** Dependencies of the shell tools. */
import type { Limits } from '../../config/limits.ts';
import type { Settings } from '../../config/settings.ts';
import type { FileHistory } from '../../src/files/history.ts';
import type { ProcessHost } from '../../src/process/process-host.ts';
import type { Jail } from '../../src/process/jail/jail.ts';
import type { Sandbox } from '../../src/process/sandbox.ts';

/** Services of Bash, PowerShell and Sleep. */
export interface ShellToolServices {
  readonly processHost: ProcessHost;
  /** Sandbox for commands; absent if they run unconfined. */
  readonly sandbox?: Sandbox;
  /** Jail for commands that are allowed because they only read; absent if there is none. */
  readonly jail?: Jail;
  /** Stores files that a command is about to write, and the last writers. */
  readonly history: FileHistory;
  readonly limits: Limits;
  /** Folders in which `pwsh` is searched. */
  readonly searchPath?: string | undefined;
  /** Failed commands that cancel the calls beside them, as described in the prompt; all if absent. */
  readonly siblingAbort?: Settings['siblingAbort'];
}
