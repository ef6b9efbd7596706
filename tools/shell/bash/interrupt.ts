/** What becomes of a running command when a person types. */
import { recordOf } from '../../../src/shell/programs/index.ts';
import type { ShellPart, ShellVerdict } from '../../../src/shell/verdict.ts';

/** Words of sub-commands and scripts that test and build: their result is what everybody waits for. */
const WAITED_FOR = /\b(?:test|tests|spec|check|build|compile)\b/;

/** `cancel` when every lasting part of the command can be begun again. */
export function interruptsBash({ parts }: ShellVerdict): 'cancel' | 'block' {
  return parts.some(isRestartable) && !parts.some(isWaitedFor) ? 'cancel' : 'block';
}

function isRestartable({ program = '', words }: ShellPart): boolean {
  return recordOf(program)?.restartable?.test(words.slice(1).join(' ')) === true;
}

function isWaitedFor({ text, words }: ShellPart): boolean {
  const first = (words.length > 0 ? words.join(' ') : text).split(' ', 3);
  return WAITED_FOR.test(first.join(' ')) || first.some((word) => recordOf(word)?.isWaitedFor === true);
}
