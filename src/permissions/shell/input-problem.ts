/** What a redirection of the input may do besides reading a file. */
import type { ShellWord } from './word.ts';

/**
 * Why an input may be a connection, or undefined.
 *
 * @param mayMove The working directory may be another one by then.
 */
export function inputProblem(word: ShellWord, mayMove: boolean): string | undefined {
  const isKnown = word.patterns
    ? word.patterns.length > 0
    : (word.prefix !== '' && !'/dev/'.startsWith(word.prefix.slice(0, 5))) || word.prefix.startsWith('/dev/fd/');
  const isDevice = (word.patterns ?? [word.prefix]).some(
    (text) =>
      /^\/+(?:\.\/+)*dev\/+(?:tcp|udp)/.test(text) ||
      /^\/[^/]*[*?[]/.test(text) ||
      // The home of some users is /dev, and so may be where the shell has moved to.
      /^~[^/]/.test(text) ||
      (/^\.(?:\/|$)/.test(text) && word.literal === undefined && mayMove),
  );
  return isKnown && !isDevice ? undefined : `it may connect to "${word.text}"`;
}
