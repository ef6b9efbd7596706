/** The command line of an input, analysed once for all members of the tool. */
import { ShellLine } from '../../../src/shell/shell-line.ts';
import type { BashArguments } from './schema.ts';

/** Return the line that `analyse` created for the same input, or a new one if a member is called separately. */
export function lineOf({ command }: Pick<BashArguments, 'command'>, analysis: unknown): ShellLine {
  return analysis instanceof ShellLine && analysis.command === command ? analysis : new ShellLine(command);
}

/**
 * Report whether a command is read-only and keeps its working directory, a change of which would affect calls beside
 * it.
 */
export function mayRunBeside({ verdict }: ShellLine): boolean {
  return verdict.isReadOnly && !verdict.changesDirectory;
}
