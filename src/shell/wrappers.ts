/** Programs that run another one and are looked through: `timeout 5 ls` only reads because `ls` does. */
import { flagTable, type GivenFlag, parseArguments } from './flags.ts';
import { findRecord } from './programs/index.ts';
import type { ShellWord } from './word.ts';

/** What stands behind a wrapper. */
export interface Unwrapped {
  /** The inner command's words; none where the wrapper itself is all there is. */
  readonly inner: readonly ShellWord[];
  /** xargs: any number of unknown words follow the inner ones. */
  readonly takesInput?: boolean;
  /** xargs -I: what stands for a line of the input; then no words follow. */
  readonly placeholder?: string;
  /** xargs: it takes words from somewhere else, or cuts lines at more than their ends. */
  readonly isForeignInput?: boolean;
  /** xargs -a: the file its words come from. */
  readonly inputFile?: ShellWord;
  /** Allow rules see through it too. */
  readonly isTransparent?: boolean;
  readonly problem?: string;
}

/** Numbers of programs that may run at once: up to 64, or one a processor. */
const FEW_AT_ONCE = /^"?(?:[1-9]|[1-5]\d|6[0-4]|\$\(nproc\))"?$/;

/** Names that may be set for one command: none of them names a program or a file to load. */
const HARMLESS_VARIABLES = /^(?:LC_[A-Z]+|LANG|LANGUAGE|TZ|TERM|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES)$/;

/** Names that do name a program, which may only be the one that passes text on. */
const PAGERS = /^(?:(?:GIT_|MAN|SYSTEMD_)?PAGER)$/;

/** Whether `NAME=value` may stand before a command without changing what it does. */
export function isHarmlessVariable(name: string, value: string | undefined): boolean {
  if (PAGERS.test(name)) return value === 'cat' || value === '';
  return (
    HARMLESS_VARIABLES.test(name) &&
    value !== undefined &&
    // Of these only a time zone is named as a path, below a folder of the system.
    (name === 'TZ' ? /^(?:\w[\w.+-]*(?:\/[\w.+-]+)*)?$/ : /^[\w.:@+-]*$/).test(value) &&
    !value.includes('..')
  );
}

/** What a wrapper runs, or undefined where the program is none. */
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
  // Not every xargs leaves the program's own word alone.
  const replaced = flags
    .filter(({ name }) => name === '-I' || name === '--replace')
    .map(({ value }) => value?.literal ?? '');
  const atOnce = flags.find(({ name }) => program === 'xargs' && /^(?:-P|--max-procs)$/.test(name))?.value;
  if (atOnce && !FEW_AT_ONCE.test(atOnce.literal ?? atOnce.text))
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

/** `-d /` makes other paths of the paths that come in. */
function cutsOrReplacesInput({ name, value }: GivenFlag): boolean {
  if (name === '-a' || name === '--arg-file') return true;
  return (name === '-d' || name === '--delimiter') && !/^(?:\\[n0]|\n)$/.test(value?.literal ?? '');
}

/** @param takesAway It may take away what keeps git from running what a repository's settings name. */
function unwrapEnv(operands: readonly ShellWord[], takesAway: boolean): Unwrapped {
  const at = operands.findIndex((word) => !/^[^=]+=/.test(word.prefix));
  const assignments = at < 0 ? operands : operands.slice(0, at);
  const isHarmless = assignments.every((word) => {
    const [name = '', value] = word.literal?.split(/=(.*)/s) ?? [];
    return isHarmlessVariable(name, value);
  });
  if (!isHarmless) return { inner: [], problem: 'env sets a variable that may change what runs' };
  const inner = at < 0 ? [] : operands.slice(at);
  const runsGit = inner.some(({ literal }) => /(?:^|\/)git$/.test(literal ?? ''));
  return takesAway && runsGit ? { inner: [], problem: 'git needs the environment it is run in' } : { inner };
}
