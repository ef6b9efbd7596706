/**
 * Names of the files that a search opens: `grep -r --include='*.ts'`, `rg -g '*.ts'`.
 *
 * Any glob that is not simple leaves all names possible.
 */
import type { GivenFlag, ParsedArguments } from './flags.ts';

/** Globs of file names, of which every opened file matches one; undefined if any name is possible. */
export type IncludedNames = readonly string[] | undefined;

const GREP_FILTERS = new Set(['--include', '--exclude', '--exclude-from']);
const RG_GLOBS = new Set(['-g', '--glob']);
/** Options that change the meaning of globs, or follow links, whose names differ from those of the files read. */
const RG_OTHERS = new Set(['-L', '--follow', '--iglob', '--glob-case-insensitive']);

/** Return the names grep opens. It skips unmatched files only if the first filter includes. */
export function grepNames({ flags }: ParsedArguments): IncludedNames {
  const filters = flags.filter(({ name }) => GREP_FILTERS.has(name));
  if (filters[0]?.name !== '--include' || flags.some(({ name }) => /^(?:-R|--dereference-recursive)$/.test(name)))
    return undefined;
  return plainNames(filters.filter(({ name }) => name === '--include'));
}

/** Return the names ripgrep opens. With one including glob, wherever it is given, it skips unmatched files. */
export function rgNames({ flags }: ParsedArguments): IncludedNames {
  if (flags.some(({ name }) => RG_OTHERS.has(name))) return undefined;
  const globs = flags.filter(({ name }) => RG_GLOBS.has(name));
  return plainNames(globs.filter(({ value }) => !value?.literal?.startsWith('!')));
}

function plainNames(globs: readonly GivenFlag[]): IncludedNames {
  const names = globs.flatMap(({ value }) => alternatives(value?.literal?.split('/').at(-1) ?? ''));
  return names.length > 0 && names.every((name) => /^[^{}[\]\\!]+$/.test(name)) ? names : undefined;
}

/** Split `*.{ts,tsx}` into its alternatives. */
function alternatives(glob: string): readonly string[] {
  const [, start = '', list, end = ''] = /^([^{}]*)\{([^{}]*)\}([^{}]*)$/.exec(glob) ?? [];
  return list === undefined ? [glob] : list.split(',').map((part) => `${start}${part}${end}`);
}
