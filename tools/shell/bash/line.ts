/** The command line of an input, understood once for all members of the tool. */
import { ShellLine } from '../../../src/shell/shell-line.ts';
import type { BashArguments } from './schema.ts';

/** The line that `analyse` made of the same input; a new one where a member is called by itself. */
export function lineOf({ command }: Pick<BashArguments, 'command'>, analysis: unknown): ShellLine {
  return analysis instanceof ShellLine && analysis.command === command ? analysis : new ShellLine(command);
}

/** Whether it only reads and stays where it is: a moved working directory would reach the calls beside it. */
export function mayRunBeside({ verdict }: ShellLine): boolean {
  return verdict.isReadOnly && !verdict.changesDirectory;
}
