/**
 * ps: three dialects of options, and in one of them an `e` that shows the environment of other processes.
 *
 * Words with a dash that make no sense as UNIX options are read again as BSD options: `-auxe` is `auxe`.
 */
import { type CommandJudgement, NO_PATHS, type ProgramSpec } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

/** The spec of ps. */
export const PS: ProgramSpec = {
  judge: (words): CommandJudgement => {
    const problem = psProblem(words);
    return { reads: NO_PATHS, ...(problem !== undefined && { problem }) };
  },
};

/** Long options that cannot be wrong, whatever the machine runs. */
const LONG_OPTION =
  /^--(?:forest|headers?|no-headers?|no-heading|deselect|context|cumulative|version|info|help|(?:cols|columns|width|rows|lines|pid|ppid|quick-pid)=[\d,]+|sort=[\w%,+-]+)$/;

/** UNIX options that go together in any number, before one with a value that cannot be wrong. */
const UNIX_OPTIONS = /^-[AadefFHjlLMNTwy]*(?:[oOpqC].*)?$/s;

/** Options without a value, then one that may have one, and what is attached to that. */
const BUNDLE = /^-?([^CGgkNOopqstUu]*)(.?)(.*)$/s;

/** Columns to print; on some systems one of them is the environment. */
const COLUMNS = /^(?!.*env)[\w%,=:. -]+$/is;

const SHOWS_ENVIRONMENTS = 'ps may show environments';

function psProblem(words: readonly ShellWord[]): string | undefined {
  const texts = words.map(({ literal, isInteger }) => literal ?? (isInteger === true ? '0' : undefined));
  let hasDashedE = false;
  let mayBeReadAgain = false;
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at];
    if (text === undefined) return 'an argument of ps cannot be known';
    if (/^\d[\d,]*$/.test(text)) continue;
    if (text.startsWith('--')) {
      mayBeReadAgain ||= !LONG_OPTION.test(text);
      continue;
    }
    const isUnix = text.startsWith('-');
    const [, options = '', option = '', attached = ''] = BUNDLE.exec(text) ?? [];
    if (options.includes('E') || (!isUnix && options.includes('e'))) return SHOWS_ENVIRONMENTS;
    // In the BSD dialect, u, g and others take no value: an `e` behind them is an option as well.
    if (!isUnix && /[GgNsUu]/.test(option) && attached.includes('e')) return SHOWS_ENVIRONMENTS;
    const takesNext = attached === '' && (isUnix ? option !== '' : /[kOopqtU]/.test(option));
    const value = takesNext ? texts[++at] : attached;
    if (takesNext && value === undefined) return 'an argument of ps cannot be known';
    if (/[oO]/.test(option) && !COLUMNS.test(value ?? '')) return SHOWS_ENVIRONMENTS;
    hasDashedE ||= text.includes('e');
    const isNumber = !/[pq]/.test(option) || /^[\d,]+$/.test(value ?? '');
    mayBeReadAgain ||= !isUnix || !UNIX_OPTIONS.test(text) || !isNumber;
  }
  return hasDashedE && mayBeReadAgain ? SHOWS_ENVIRONMENTS : undefined;
}
