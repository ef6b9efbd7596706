/**
 * The files a command names, for the path gate.
 *
 * What cannot be known counts as reading `/`, which lies in no working directory.
 */
import type { PathUse } from '../../contract/located-path.ts';
import { basename } from './launchers.ts';
import type { CommandJudgement } from './program-spec.ts';
import type { ShellWord } from './word.ts';

const UNKNOWN: readonly PathUse[] = [{ path: '/', access: 'read' }];

/** Programs that write what their operands name; with true, all of them, else the last one alone. */
const WRITERS: Readonly<Record<string, boolean>> = {
  rm: true,
  rmdir: true,
  unlink: true,
  touch: true,
  mkdir: true,
  mv: true,
  truncate: true,
  shred: true,
  tee: true,
  chmod: true,
  chown: true,
  chgrp: true,
  cp: false,
  ln: false,
  install: false,
  rsync: false,
  scp: false,
};

/** Devices that hold no file and whose reading or writing needs no leave. */
const DEVICES = /^\/dev\/(?:null|zero|full|u?random|stdin|stdout|stderr|tty|fd(?:\/\d*)?)$/;

/** Every path a command reads or writes, as far as its words tell. */
export function pathUses(
  words: readonly ShellWord[],
  judged: CommandJudgement,
  bases: readonly string[] | undefined,
): readonly PathUse[] {
  if (judged.problem === undefined) {
    return judged.reads.flatMap((word) =>
      resolveFrom(word, 'read', bases).map((use) => (judged.isTree ? { ...use, isTree: true } : use)),
    );
  }
  const operands = words.slice(1).filter((word) => !word.mayBeFlag || word.literal === undefined);
  const program = basename(words[0]?.literal ?? '');
  if (Object.hasOwn(WRITERS, program)) {
    const writesAll = WRITERS[program] === true;
    return operands.flatMap((word, at) =>
      known(word, writesAll || at === operands.length - 1 ? 'write' : 'read', bases),
    );
  }
  const writesInPlace = program === 'sed' && words.some((word) => /^-[a-zA-Z]*i|^--in-place/.test(word.literal ?? ''));
  const named = words.slice(1).filter((word) => word.literal === undefined || looksLikePath(word.literal));
  return [
    ...judged.reads.flatMap((word) => known(word, writesInPlace ? 'write' : 'read', bases)),
    ...named.flatMap((word) =>
      known(valueOf(word), /^of=/.test(word.prefix) || writesInPlace ? 'write' : 'read', bases),
    ),
  ];
}

/** One operand or target, from every folder the command may be run in. */
export function resolveFrom(
  word: ShellWord,
  access: PathUse['access'],
  bases: readonly string[] | undefined,
): readonly PathUse[] {
  const { patterns, roots } = word;
  if (roots && access === 'read') {
    return resolveFrom({ ...word, patterns: roots, roots: undefined }, access, bases).map((use) => ({
      ...use,
      isTree: true,
    }));
  }
  if (!patterns) return word.prefix.startsWith('/dev/fd/') ? [] : access === 'read' ? UNKNOWN : [];
  return patterns.flatMap((pattern) => {
    if (pattern === '' || pattern === '-' || DEVICES.test(pattern)) return [];
    // What a glob finds may lead anywhere once `..` follows it.
    const isWild =
      /[*?[].*\/\.\.(?:\/|$)/.test(pattern) || /^\/proc\/(?!self|\d)|^\/sys\//.test(pattern) || /^~[^/]/.test(pattern);
    if (isWild) return UNKNOWN;
    if (/^(?:\/|~(?:\/|$))/.test(pattern)) return [{ path: pattern, access }];
    return bases ? bases.map((base) => ({ path: `${base}${pattern}`, access })) : UNKNOWN;
  });
}

/** What a command that is asked about anyway names: only what is known counts. */
function known(word: ShellWord, access: PathUse['access'], bases: readonly string[] | undefined): readonly PathUse[] {
  return word.patterns && bases ? resolveFrom(word, access, bases) : [];
}

function looksLikePath(text: string): boolean {
  return /[./]/.test(text) && !text.includes('://') && text.length < 1_024 && !/[\n{}();|<>]/.test(text);
}

/** `@.env`, `if=.env` and `--env-file=.env` name a file in the end of a word. */
function valueOf(word: ShellWord): ShellWord {
  const value = word.literal?.replace(/^(?:-{0,2}[\w-]*=)?@?/, '');
  return value === undefined || value === '' ? word : { ...word, literal: value, patterns: [value], prefix: value };
}
