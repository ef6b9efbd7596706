/** Programs that run another one and are unwrapped: `timeout 5 ls` only reads because `ls` does. */
import { flagTable, type GivenFlag, parseArguments } from './flags.ts';
import { findRecord } from './programs/index.ts';
import type { ShellWord } from './word.ts';

/** Command behind a wrapper. */
export interface Unwrapped {
  /** Words of the inner command; empty if the wrapper runs nothing. */
  readonly inner: readonly ShellWord[];
  /** xargs: any number of unknown words follow the inner ones. */
  readonly takesInput?: boolean;
  /** xargs -I: text that is replaced by a line of the input; then no words are appended. */
  readonly placeholder?: string;
  /** xargs: words come from a file, or lines are split at other characters. */
  readonly isForeignInput?: boolean;
  /** xargs -a: file with the words. */
  readonly inputFile?: ShellWord;
  /** True if allow rules for the inner command apply, too. */
  readonly isTransparent?: boolean;
  readonly problem?: string;
}

/** Accepted numbers of parallel processes: up to 64, or one per processor. */
const ALLOWED_PARALLELISM = /^"?(?:[1-9]|[1-5]\d|6[0-4]|\$\(nproc\))"?$/;

/** Variables that may be set for one command: none of them names a program or a file to load. */
const HARMLESS_VARIABLES = /^(?:LC_[A-Z]+|LANG|LANGUAGE|TZ|TERM|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES)$/;

/** Variables that name a program, for which only `cat` or none is accepted. */
const PAGERS = /^(?:(?:GIT_|MAN|SYSTEMD_)?PAGER)$/;

/** Report whether `NAME=value` before a command cannot change what it does. */
export function isHarmlessVariable(name: string, value: string | undefined): boolean {
  if (PAGERS.test(name)) return value === 'cat' || value === '';
  return (
    HARMLESS_VARIABLES.test(name) &&
    value !== undefined &&
    // Only a time zone may be a path, below a folder of the system.
    (name === 'TZ' ? /^(?:\w[\w.+-]*(?:\/[\w.+-]+)*)?$/ : /^[\w.:@+-]*$/).test(value) &&
    !value.includes('..')
  );
}

/** Unwrap a wrapper. @returns undefined if the program is not a wrapper. */
export function unwrap(program: string, words: readonly ShellWord[]): Unwrapped | undefined {
  const { wraps: spec, leadingOperands = 0 } = findRecord(program) ?? {};
  if (!spec) return undefined;
  const { flags, operands, problem } = parseArguments(words, {
    flags: flagTable(spec.flags),
    stopsAtOperand: true,
    ...(spec.hasNumbers && { hasNumbers: true }),
  });
  if (problem !== undefined) return { inner: [], problem };
  if (program === 'command' && flags.some(({ name }) => name !== '-p')) return { inner: [] };
  if (program === 'env') return unwrapEnv(operands, flags.length > 0);
  const leading = operands.slice(0, leadingOperands);
  if (leading.some((word) => word.isSplit))
    return { inner: [], problem: `"${leading[0]?.text ?? ''}" may become several words` };
  const inner = operands.slice(leadingOperands);
  // Some versions of xargs also replace the program's own word.
  const replaced = flags
    .filter(({ name }) => name === '-I' || name === '--replace')
    .map(({ value }) => value?.literal ?? '');
  const atOnce = flags.find(({ name }) => program === 'xargs' && /^(?:-P|--max-procs)$/.test(name))?.value;
  if (atOnce && !ALLOWED_PARALLELISM.test(atOnce.literal ?? atOnce.text))
    return { inner: [], problem: 'xargs may start any number of programs at once' };
  if (replaced.some((text) => text === '' || inner[0]?.text.includes(text)))
    return { inner: [], problem: 'xargs may replace the program' };
  return {
    inner,
    ...(spec.isTransparent && { isTransparent: true }),
    ...(program === 'xargs' && { takesInput: true, isForeignInput: flags.some(cutsOrReplacesInput) }),
    inputFile: flags.find(({ name }) => name === '-a' || name === '--arg-file')?.value,
    ...(replaced[0] !== undefined && { placeholder: replaced[0] }),
  };
}

/** Report whether the input words differ from the piped paths: `-d /` cuts them, `-a` reads a file. */
function cutsOrReplacesInput({ name, value }: GivenFlag): boolean {
  if (name === '-a' || name === '--arg-file') return true;
  return (name === '-d' || name === '--delimiter') && !/^(?:\\[n0]|\n)$/.test(value?.literal ?? '');
}

/**
 * @param unsetsVariables True if it may remove the variables that keep git from running programs of a repository's settings.
 */
function unwrapEnv(operands: readonly ShellWord[], unsetsVariables: boolean): Unwrapped {
  const at = operands.findIndex((word) => !/^[^=]+=/.test(word.prefix));
  const assignments = at < 0 ? operands : operands.slice(0, at);
  const isHarmless = assignments.every((word) => {
    const [name = '', value] = word.literal?.split(/=(.*)/s) ?? [];
    return isHarmlessVariable(name, value);
  });
  if (!isHarmless) return { inner: [], problem: 'env sets a variable that may change what runs' };
  const inner = at < 0 ? [] : operands.slice(at);
  const runsGit = inner.some(({ literal }) => /(?:^|\/)git$/.test(literal ?? ''));
  return unsetsVariables && runsGit ? { inner: [], problem: 'git needs the environment it is run in' } : { inner };
}
