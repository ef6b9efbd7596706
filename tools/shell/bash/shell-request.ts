/**
 * A command line as the process host is asked to run it.
 *
 * What only reads runs unasked, also in a repository that somebody else has set up: git must not run what the
 * repository's own settings name. The environment wins over them, however git is called. Settings that it cannot
 * override (`filter.*.clean`, `diff.*.textconv`) are a question (`src/files/git-programs.ts`).
 */
import type { ShellLine } from '../../../src/shell/shell-line.ts';
import type { SpawnRequest } from '../../../src/process/process-host.ts';

/** Settings that win over those of the repository. */
const GIT_SETTINGS = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'log.showSignature': 'false',
  'gpg.program': 'false',
  'gpg.openpgp.program': 'false',
  'gpg.ssh.program': 'false',
  'gpg.x509.program': 'false',
  // A repository inside another one's files is found by its layout alone.
  'safe.bareRepository': 'explicit',
  // `log -m` would merge anew, by programs that the repository names.
  'log.diffMerges': 'separate',
  // Each of these starts git in sub-modules, where these settings are gone.
  'diff.submodule': 'short',
  'status.submoduleSummary': 'false',
  'submodule.recurse': 'false',
};

/** The children's environment holds no `LD_*`, `BASH_ENV` or `LESSOPEN` to begin with. */
const READ_ONLY_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  // A partial clone would fetch what it lacks, and write it down; versions that do not know of this may use no protocol.
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: String(Object.keys(GIT_SETTINGS).length),
  ...Object.fromEntries(
    Object.entries(GIT_SETTINGS).flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
};

/** Ask for a shell that runs a line in `cwd`. */
export function shellRequest({ command, verdict: { isReadOnly } }: ShellLine, cwd: string): SpawnRequest {
  return { file: 'bash', args: [], shellScript: command, cwd, env: isReadOnly ? READ_ONLY_ENVIRONMENT : {} };
}
