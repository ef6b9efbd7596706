/**
 * Paths of a read-only command and of redirections, for the path gate.
 *
 * An unknown path counts as reading `/`, which is in no working directory.
 */
import { homedir } from 'node:os';
import { basename } from 'node:path';
import type { PathUse } from '../tool/located-path.ts';
import type { CommandJudgement } from './program-spec.ts';
import type { ShellWord } from './word.ts';

const UNKNOWN: readonly PathUse[] = [{ path: '/', access: 'read', isUnknown: true }];

/** `~me` is the same as `~`. */
const OWN_HOME = new RegExp(`^~${basename(homedir()).replace(/\W/g, '\\$&')}(?=/|$)`);

/** Devices that hold no file, so that reading and writing them needs no permission. */
const DEVICES = /^\/dev\/(?:null|zero|full|u?random|stdin|stdout|stderr|tty|fd(?:\/\d*)?)$/;

/** List the paths that a read-only command names. */
export function readPaths(
  { reads, isTree, names }: CommandJudgement,
  bases: readonly string[] | undefined,
): readonly PathUse[] {
  return reads.flatMap((word) =>
    resolveFrom(word, 'read', bases).map((use) =>
      // Listed paths may be folders, and the file names of a search do not restrict those.
      isTree ? { ...use, isTree: true, ...(names && !use.isTree && { names }) } : use,
    ),
  );
}

/** Resolve one operand or redirection target against every possible working directory. */
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
    // A glob followed by `..` may match a link to anywhere, and `.*` matches `..` itself in most shells.
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
