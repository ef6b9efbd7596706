/** What the shell tools are handed by whoever wires the server. */
import type { Limits } from '../../config/limits.ts';
import type { Settings } from '../../config/settings.ts';
import type { FileHistory } from '../../src/files/history.ts';
import type { ProcessHost } from '../../src/process/process-host.ts';
import type { Jail } from '../../src/process/jail/jail.ts';
import type { Sandbox } from '../../src/process/sandbox.ts';

/** Services of Bash and Sleep. */
export interface ShellToolServices {
  readonly processHost: ProcessHost;
  /** Where commands run; absent: like any program. */
  readonly sandbox?: Sandbox;
  /** Holds commands that pass because they only read; absent: nothing does. */
  readonly jail?: Jail;
  /** Keeps files that a command is about to write, and who wrote. */
  readonly history: FileHistory;
  readonly limits: Limits;
  /** Which failed commands cancel the calls beside them, for the model to know; absent: all. */
  readonly siblingAbort?: Settings['siblingAbort'];
}
