/**
 * A command line as the process host is asked to run it.
 *
 * What only reads runs unasked, also in a repository that somebody else has set up: git must not run
 * what the repository's own settings name. No environment reaches filters (`filter.*.clean`), which is
 * why writing `.git/config` counts as execution.
 */
import { classifyCommand } from '../../../src/permissions/shell/classify.ts';
import type { SpawnRequest } from '../../../src/process/process-host.ts';

/** Settings that win over those of the repository. */
const GIT_SETTINGS = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'log.showSignature': 'false',
  'gpg.program': 'false',
  'gpg.ssh.program': 'false',
  'gpg.x509.program': 'false',
};

/** The children's environment holds no `LD_*`, `BASH_ENV` or `LESSOPEN` to begin with. */
const READ_ONLY_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  // A partial clone would fetch what it lacks, and write it down.
  GIT_NO_LAZY_FETCH: '1',
  GIT_CONFIG_NOSYSTEM: '1',
  // A git that is not called through the function below ends here rather than run the repository's own.
  GIT_EXTERNAL_DIFF: '',
  GIT_CONFIG_COUNT: String(Object.keys(GIT_SETTINGS).length),
  ...Object.fromEntries(
    Object.entries(GIT_SETTINGS).flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
};

/** Only options turn off a repository's diff and text converters. On one line: the script's own lines keep their numbers. */
const GIT_FUNCTION =
  'git() { local pager=(); if [[ ${1-} == --no-pager ]]; then pager=("$1"); shift; fi; case ${1-} in ' +
  'diff|diff-tree|diff-index|diff-files|log|show|whatchanged|blame) ' +
  'command git "${pager[@]}" "$1" --no-ext-diff --no-textconv "${@:2}";; *) command git "${pager[@]}" "$@";; esac; }; ';

/** Ask for a shell that runs `command` in `cwd`. */
export function shellRequest(command: string, cwd: string): SpawnRequest {
  const { isReadOnly, parts } = classifyCommand(command);
  const usesGit = isReadOnly && parts.some(({ program }) => program === 'git');
  return {
    file: 'bash',
    args: [],
    shellScript: usesGit ? GIT_FUNCTION + command : command,
    cwd,
    env: isReadOnly ? READ_ONLY_ENVIRONMENT : {},
  };
}
