/**
 * The files a command names that only reads, and its redirections, for the path gate.
 *
 * What cannot be known counts as reading `/`, which lies in no working directory.
 */
import { homedir } from 'node:os';
import { basename } from 'node:path';
import type { PathUse } from '../tool/located-path.ts';
import type { CommandJudgement } from './program-spec.ts';
import type { ShellWord } from './word.ts';

const UNKNOWN: readonly PathUse[] = [{ path: '/', access: 'read', isUnknown: true }];

/** `~me` is `~`. */
const OWN_HOME = new RegExp(`^~${basename(homedir()).replace(/\W/g, '\\$&')}(?=/|$)`);

/** Devices that hold no file and whose reading or writing needs no leave. */
const DEVICES = /^\/dev\/(?:null|zero|full|u?random|stdin|stdout|stderr|tty|fd(?:\/\d*)?)$/;

/** Every path a command names that only reads. */
export function readPaths(
  { reads, isTree, names }: CommandJudgement,
  bases: readonly string[] | undefined,
): readonly PathUse[] {
  return reads.flatMap((word) =>
    resolveFrom(word, 'read', bases).map((use) =>
      // What comes from a listing may be below folders that the names say nothing of.
      isTree ? { ...use, isTree: true, ...(names && !use.isTree && { names }) } : use,
    ),
  );
}

/** One operand or target, from every folder the command may be run in. */
export function resolveFrom(
  word: ShellWord,
  access: PathUse['access'],
  bases: readonly string[] | undefined,
): readonly PathUse[] {
  const { patterns, roots, guesses } = word;
  if (roots && access === 'read') {
    return resolveFrom({ ...word, patterns: roots, roots: undefined }, access, bases).map((use) => ({
      ...use,
      isTree: true,
    }));
  }
  if (guesses && !patterns)
    return [
      ...resolveFrom({ ...word, patterns: guesses, guesses: undefined }, access, bases),
      ...(access === 'read' ? UNKNOWN : []),
    ];
  if (!patterns) return word.prefix.startsWith('/dev/fd/') ? [] : access === 'read' ? UNKNOWN : [];
  return patterns.flatMap((written) => {
    const pattern = written.replace(/^~\+(?=\/)/, '.').replace(OWN_HOME, '~');
    if (pattern === '' || pattern === '-' || DEVICES.test(pattern)) return [];
    // What a glob finds may lead anywhere once `..` follows it, and `.*` finds `..` itself in most shells.
    const wild = pattern.search(/[*?[]/);
    const isWild =
      (wild >= 0 && /\/\.\.(?:\/|$)/.test(pattern.slice(wild))) ||
      /(?:^|\/)\.(?=[^\w/]*\/.)[^\w/*?[]*[*?[]/.test(pattern) ||
      /^\/proc\/(?!self|\d)|^\/sys\/|^~[^/]/.test(pattern);
    if (isWild) return UNKNOWN;
    if (/^(?:\/|~(?:\/|$))/.test(pattern)) return [{ path: pattern, access }];
    return bases ? bases.map((base) => ({ path: `${base}${pattern}`, access })) : UNKNOWN;
  });
}
