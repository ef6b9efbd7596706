/**
 * Environment in which git runs no program that a repository's settings name, however git is called.
 *
 * Settings that it cannot override (`filter.*.clean`, `diff.*.textconv`) are found by `git-repository.ts`.
 */

/** Settings that override those of the repository. */
const GIT_SETTINGS = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'log.showSignature': 'false',
  'gpg.program': 'false',
  'gpg.openpgp.program': 'false',
  'gpg.ssh.program': 'false',
  'gpg.x509.program': 'false',
  // A bare repository inside another one's files would be detected by its layout alone.
  'safe.bareRepository': 'explicit',
  // `log -m` would repeat merges with programs that the repository names.
  'log.diffMerges': 'separate',
  // Each of these starts git in sub-modules, where these settings do not apply.
  'diff.submodule': 'short',
  'status.submoduleSummary': 'false',
  'submodule.recurse': 'false',
};

/** Environment for git; settings of the user are trusted and stay in force. */
export const QUIET_GIT_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  // A partial clone would fetch missing objects and store them; versions without this variable are denied all
  // protocols.
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
