/** Dependencies of these tools. */
import type { Limits } from '../../config/limits.ts';
import type { LanguageServerSettings } from '../../config/settings/language-servers.ts';
import type { Jail } from '../../src/process/jail/jail.ts';
import type { ProcessHost } from '../../src/process/process-host.ts';
import type { CodeProcesses } from './code-processes.ts';

/** Services of LSP and REPL. */
export interface CodeToolServices {
  readonly limits: Limits;
  readonly processHost: ProcessHost;
  /** Absent: no process can be contained, so that a person is asked about each call. */
  readonly jail?: Jail;
  /** Language servers by name; absent: none. */
  readonly languageServers?: Readonly<Record<string, LanguageServerSettings>>;
  /** `PATH` of the server. */
  readonly searchPath?: string;
  /** Absolute real folders and files that no answer names: the server's own data. */
  readonly privateFolders?: readonly string[];
  /** The processes that outlive a call; absent where a list of tools is all that is wanted. */
  readonly codeProcesses?: CodeProcesses;
}
