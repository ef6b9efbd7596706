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
