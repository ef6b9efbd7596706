/** `$(pwd)` is where the shell is, as `$PWD` is. */
import type { ParsedScript } from 'unbash';

/** Whether a substitution prints the working folder and nothing else. */
export function isWorkingFolder(script: ParsedScript | undefined): boolean {
  const [{ command } = {}, ...more] = script?.commands ?? [];
  return (
    more.length === 0 && command?.type === 'Command' && command.name?.text === 'pwd' && command.suffix.length === 0
  );
}
