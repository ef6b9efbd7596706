/**
 * Builds the process host's request for a command line.
 *
 * A read-only command runs unasked, also in an untrusted repository, so git must not run programs named by the
 * repository's settings (`src/files/git-environment.ts`).
 */
import { QUIET_GIT_ENVIRONMENT } from '../../../src/files/git-environment.ts';
import type { ShellLine } from '../../../src/shell/shell-line.ts';
import type { SpawnRequest } from '../../../src/process/process-host.ts';

/** Environment of read-only commands. `LD_*`, `BASH_ENV` and `LESSOPEN` are never passed to children. */
const READ_ONLY_ENVIRONMENT: Readonly<Record<string, string>> = { ...QUIET_GIT_ENVIRONMENT, PAGER: 'cat' };

/** Build the request for a shell that runs a line in `cwd`. */
export function shellRequest({ command, verdict: { isReadOnly } }: ShellLine, cwd: string): SpawnRequest {
  return { file: 'bash', args: [], shellScript: command, cwd, env: isReadOnly ? READ_ONLY_ENVIRONMENT : {} };
}
