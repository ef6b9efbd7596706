/**
 * Settings of git that name programs which a command that only reads may start.
 *
 * These are the keys that git documents as commands (git-config(1)), less those that the environment of such a command
 * (`tools/shell/bash/shell-request.ts`) makes ineffective:
 * - `core.fsmonitor`, `core.hooksPath` and `gpg.*` are set in it, but git drops that for the processes that it starts in
 *   sub-modules;
 * - `core.sshCommand`, `core.gitProxy`, `core.askPass`, `credential.helper` and `remote.*` are for transports, and
 *   `GIT_ALLOW_PROTOCOL` refuses each of these, in sub-modules too;
 * - pagers give way to `GIT_PAGER`;
 * - editors, browsers, aliases, mail, `difftool`, `mergetool`, `tar.*`, `trailer.*` and `submodule.*.update` belong to
 *   sub-commands that are not known to only read. No alias takes the place of a sub-command but the one below.
 */
import type { GitSetting } from './git-config.ts';

interface ProgramSetting {
  readonly name: RegExp;
  /** The environment of a command that only reads sets it, so that it has an effect in sub-modules alone. */
  readonly isOverridden?: boolean;
}

const PROGRAM_SETTINGS: readonly ProgramSetting[] = [
  // `status` and `diff` pass changed files through the filter that their attributes name.
  { name: /^filter\..*\.(?:clean|smudge|process)$/s },
  // Whatever shows differences, and `blame` and `grep` where they are told to.
  { name: /^diff\.(?:external|.*\.(?:command|textconv))$/s },
  // `log -m` merges anew where `log.diffMerges` says so.
  { name: /^merge\..*\.driver$/s },
  // Newer versions take hooks from settings, too: `status` and `diff` may write the index, which is an event.
  { name: /^hook\..*\.command$/s },
  // Newer versions let an alias take the place of a sub-command that is to be removed.
  { name: /^alias\.(?:.*\.)?whatchanged(?:\.command)?$/s },
  // git-lfs, a filter that operators set up for all repositories, asks these of the repository.
  { name: /^lfs\.(?:extension|customtransfer)\..*\.(?:clean|smudge|path)$/is },
  // Asked for what has changed, by nearly every sub-command.
  { name: /^core\.fsmonitor$/, isOverridden: true },
  // Signatures are verified by `log.showSignature` and by formats.
  { name: /^gpg\.(?:program|.*\.program)$/s, isOverridden: true },
];

/** Values that run nothing of the repository's: not even a program that it holds. */
const HARMLESS_VALUE = /^(?:true|false|cat|:)?$/;

/** Whether a setting of a repository may start a program of its choice. @param isOverridden The environment holds there. */
export function runsProgram({ name, value = '' }: GitSetting, isOverridden: boolean): boolean {
  if (HARMLESS_VALUE.test(value)) return false;
  return PROGRAM_SETTINGS.some((setting) => setting.name.test(name) && !(isOverridden && setting.isOverridden));
}

/** Settings of one file that git reads and shows lines of, in messages or as names. */
const SHOWN_FILE = /^(?:blame\.ignorerevsfile|mailmap\.file)$/;

/** Whether the value of a setting is a file whose text git may show. */
export function showsFile({ name }: GitSetting): boolean {
  return SHOWN_FILE.test(name);
}
