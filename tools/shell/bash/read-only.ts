/** Whether a command line only reads, and may run beside others. */
import { classifyCommand } from '../../../src/permissions/shell/classify.ts';

/** It cannot write, run programs of the input's choosing, or use the network. */
export function isReadOnlyCommand(command: string): boolean {
  return classifyCommand(command).isReadOnly;
}

/** It only reads and stays where it is: a moved working directory would reach the calls beside it. */
export function mayRunBeside(command: string): boolean {
  const { isReadOnly, changesDirectory } = classifyCommand(command);
  return isReadOnly && !changesDirectory;
}

/**
 * Environment of a command that runs unasked: a repository's own settings must not make git run programs.
 *
 * The children's environment holds no `LD_*`, `BASH_ENV` or `LESSOPEN` to begin with.
 */
export const READ_ONLY_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_EXTERNAL_DIFF: '',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'core.hooksPath',
  GIT_CONFIG_VALUE_1: '/dev/null',
};
