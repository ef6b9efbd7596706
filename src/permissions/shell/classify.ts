/** Whether a command line only reads: the test behind Bash's `isReadOnly`. */
import type { ShellVerdict } from './verdict.ts';

export type { ShellPart, ShellVerdict } from './verdict.ts';

/**
 * Judge a command line. Pure; never throws.
 *
 * @param command As `bash -c` would get it.
 */
export function classifyCommand(command: string): ShellVerdict {
  return {
    isReadOnly: false,
    reason: 'not judged',
    parts: [{ text: command, words: [], isReadOnly: false }],
    paths: [{ path: '/', access: 'write' }],
    warnings: [],
    isUnparsable: true,
    changesDirectory: true,
  };
}
