/** What a redirection does: it reads a file, copies a descriptor, writes or connects. */
import type { Redirect } from 'unbash';
import type { PathUse } from '../tool/located-path.ts';
import { resolveFrom } from './operand-paths.ts';
import type { ShellWord } from './word.ts';

/** What is known of one redirection. */
interface RedirectJudgement {
  /** Why it does more than read. */
  readonly problem?: string;
  readonly paths: readonly PathUse[];
}

/**
 * Judge a redirection.
 *
 * @param target Its decoded target.
 * @param bases Where relative paths may start from.
 * @param mayMove The working directory may be another one by then.
 */
export function judgeRedirect(
  { operator }: Redirect,
  target: readonly ShellWord[],
  bases: readonly string[] | undefined,
  mayMove: boolean,
): RedirectJudgement {
  const [word, ...more] = target;
  if (!word || more.length > 0) return { problem: 'a redirection cannot be known', paths: [] };
  if (operator === '<') {
    const paths = word.literal === '/dev/null' ? [] : resolveFrom(word, 'read', bases);
    const problem = inputProblem(word, mayMove);
    return { paths, ...(problem !== undefined && { problem }) };
  }
  const isCopy = (operator === '>&' || operator === '<&') && /^(?:\d+-?|-)$/.test(word.literal ?? '');
  const isNull = word.literal === '/dev/null' && operator !== '<>' && operator !== '<&';
  if (isCopy || isNull) return { paths: [] };
  return { problem: `it writes "${word.text}"`, paths: resolveFrom(word, 'write', bases) };
}

/** Why an input may be a connection, or undefined. */
function inputProblem(word: ShellWord, mayMove: boolean): string | undefined {
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
