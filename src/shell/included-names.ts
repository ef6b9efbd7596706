/**
 * Which files a search opens, as far as their names tell: `grep -r --include='*.ts'`, `rg -g '*.ts'`.
 *
 * Whatever is not plain leaves every name possible.
 */
import type { GivenFlag, ParsedArguments } from './flags.ts';

/** Globs of names, one of which each file has that is opened; undefined: it may have any. */
export type IncludedNames = readonly string[] | undefined;

const GREP_FILTERS = new Set(['--include', '--exclude', '--exclude-from']);
const RG_GLOBS = new Set(['-g', '--glob']);
/** They read globs differently, or follow links, whose names say nothing of what is read. */
const RG_OTHERS = new Set(['-L', '--follow', '--iglob', '--glob-case-insensitive']);

/** Of grep: what no filter matches is left out only where the first of them includes. */
export function grepNames({ flags }: ParsedArguments): IncludedNames {
  const filters = flags.filter(({ name }) => GREP_FILTERS.has(name));
  if (filters[0]?.name !== '--include' || flags.some(({ name }) => /^(?:-R|--dereference-recursive)$/.test(name)))
    return undefined;
  return plainNames(filters.filter(({ name }) => name === '--include'));
}

/** Of ripgrep: with one glob that includes, what none includes is left out, wherever they stand. */
export function rgNames({ flags }: ParsedArguments): IncludedNames {
  if (flags.some(({ name }) => RG_OTHERS.has(name))) return undefined;
  const globs = flags.filter(({ name }) => RG_GLOBS.has(name));
  return plainNames(globs.filter(({ value }) => !value?.literal?.startsWith('!')));
}

function plainNames(globs: readonly GivenFlag[]): IncludedNames {
  const names = globs.flatMap(({ value }) => alternatives(value?.literal?.split('/').at(-1) ?? ''));
  return names.length > 0 && names.every((name) => /^[^{}[\]\\!]+$/.test(name)) ? names : undefined;
}

/** `*.{ts,tsx}` in two. */
function alternatives(glob: string): readonly string[] {
  const [, start = '', list, end = ''] = /^([^{}]*)\{([^{}]*)\}([^{}]*)$/.exec(glob) ?? [];
  return list === undefined ? [glob] : list.split(',').map((part) => `${start}${part}${end}`);
}
