/**
 * The files that a command names which does more than read, for Read and Edit rules.
 *
 * Nothing here lets anything pass: such a command is asked about unless a rule allows it, so what is named
 * in doubt counts, and what is not known does not.
 */
import type { PathUse } from '../../contract/located-path.ts';
import { launchedCommands } from './launchers.ts';
import { resolveFrom } from './operand-paths.ts';
import type { CommandJudgement } from './program-spec.ts';
import { basename } from './spellings.ts';
import type { ShellWord } from './word.ts';

type Access = PathUse['access'];
type Bases = readonly string[] | undefined;

/** Programs that write all their operands, those that write the last alone, and those that read them all. */
const OPERANDS: Readonly<Record<'written' | 'copied' | 'read', ReadonlySet<string>>> = {
  written: new Set(
    'rm rmdir unlink link touch mkdir mkfifo mknod mv unzip truncate shred tee sponge chmod chown chgrp chattr setfacl rename patch gzip gunzip bzip2 bunzip2 xz unxz vi vim nvim nano ed ex emacs'.split(
      ' ',
    ),
  ),
  copied: new Set('cp ln install rsync scp mv uniq xxd script'.split(' ')),
  read: new Set('tar bsdtar zip 7z rar cpio vi vim nvim nano ed ex emacs'.split(' ')),
};

/** sed, perl, awk, ruby and yq. */
const IN_PLACE = /^-[a-zA-Z]*i|^--in-?place/;

const WRITING_GIT = /^(?:checkout|restore|rm|mv|clean|stash)$/;

/** An option that names what is written, in the next word or in its own. */
const OUTPUT = /^(?:-[a-zA-Z]*[oO]|--?out[\w-]*|-fprint[0f]?|-fls)$/;
const ATTACHED_OUTPUT = /^(?:-[oO](?!ut$)|--out[\w-]*=|of=)(.+)$/s;

/** Most paths that are looked for in a script of another language. */
const MOST_MENTIONED = 64;

/** Every path such a command names, with what it may do to it. */
export function actingPaths(words: readonly ShellWord[], judged: CommandJudgement, bases: Bases): readonly PathUse[] {
  const uses = (found: readonly ShellWord[], access: Access): readonly PathUse[] =>
    bases ? found.flatMap((word) => (word.patterns ? resolveFrom(word, access, bases) : [])) : [];
  const launched = launchedCommands(words.map((word) => word.literal ?? word.text));
  // `sudo tee f`: what is launched writes.
  const writerAt = words.findIndex(({ literal }) => literal !== undefined && isWriter(basename(literal)));
  const mayLaunch = launched.isLauncher || /^(?:find|fd|fdfind)$/.test(basename(words[0]?.literal ?? ''));
  const command = mayLaunch && writerAt > 0 ? words.slice(writerAt) : words;
  // `find -exec cp a b \;`
  const operands = command
    .slice(1)
    .filter((word) => (!word.mayBeFlag || word.literal === undefined) && !/^[;+]$/.test(word.literal ?? ''));
  const program = basename(command[0]?.literal ?? '');
  const named = words
    .slice(1)
    .filter((word) => word.literal === undefined || looksLikePath(word.literal))
    .map(valueOf);
  const mentioned = launched.isInterpreter ? launched.scripts.flatMap(pathsIn) : [];
  if (isWriter(program)) return writerUses(program, command, operands, uses);
  return [
    ...uses([...judged.reads, ...named, ...(OPERANDS.read.has(program) ? operands : []), ...mentioned], 'read'),
    ...uses([...outputs(words), ...mentioned], 'write'),
    ...(changesWhatItReads(words) ? uses([...judged.reads, ...named], 'write') : []),
  ];
}

function isWriter(program: string): boolean {
  return OPERANDS.written.has(program) || OPERANDS.copied.has(program);
}

function writerUses(
  program: string,
  words: readonly ShellWord[],
  operands: readonly ShellWord[],
  uses: (found: readonly ShellWord[], access: Access) => readonly PathUse[],
): readonly PathUse[] {
  // With -t the target stands first, or anywhere.
  const hasTarget = words.some(({ literal }) => /^-\w*t$|^--target/.test(literal ?? ''));
  const written = OPERANDS.written.has(program) || hasTarget ? operands : operands.slice(-1);
  const copied = OPERANDS.copied.has(program) && !hasTarget ? operands.slice(0, -1) : operands;
  const isRead = OPERANDS.copied.has(program) || OPERANDS.read.has(program);
  return [...(isRead ? uses(copied, 'read') : []), ...uses(written, 'write')];
}

function changesWhatItReads(words: readonly ShellWord[]): boolean {
  const program = basename(words[0]?.literal ?? '');
  const texts = words.slice(1).map(({ literal }) => literal ?? '');
  if (program === 'git') return WRITING_GIT.test(texts.find((text) => !text.startsWith('-')) ?? '');
  if (program === 'find') return texts.includes('-delete');
  if (/^(?:bsd)?tar$/.test(program))
    return texts.some((text) => /^(?:-?[a-zA-Z]*x[a-zA-Z]*|--(?:extract|get))$/.test(text));
  return /^(?:g?sed|perl|ruby|yq|g?awk)$/.test(program) && texts.some((text) => IN_PLACE.test(text));
}

function outputs(words: readonly ShellWord[]): readonly ShellWord[] {
  return words.flatMap((word, at) => {
    const attached = ATTACHED_OUTPUT.exec(word.literal ?? '')?.[1];
    if (attached !== undefined) return [asPath(attached)];
    const next = words[at + 1];
    return next && !next.mayBeFlag && OUTPUT.test(word.literal ?? '') ? [next] : [];
  });
}

function looksLikePath(text: string): boolean {
  return /[./]/.test(text) && !text.includes('://') && text.length < 1_024 && !/[\n{}();|<>]/.test(text);
}

/** `open(".env")`: what could be a path in another language; devices and kernel files are no files there. */
function pathsIn(script: string): readonly ShellWord[] {
  return script
    .split(/[\s'"`()[\]{},;:=<>|&!$#*?\\]+/)
    .filter((text) => looksLikePath(text) && !/^\/(?:dev|proc|sys)\b|^[./\d]*$/.test(text))
    .slice(0, MOST_MENTIONED)
    .map(asPath);
}

/** `@.env`, `if=.env` and `--env-file=.env` name a file in the end of a word. */
function valueOf(word: ShellWord): ShellWord {
  const value = word.literal?.replace(/^(?:-{0,2}[\w-]*=)?@?/, '');
  return value === undefined || value === '' ? word : asPath(value);
}

function asPath(text: string): ShellWord {
  return { text, literal: text, patterns: [text], prefix: text, isSplit: false, mayBeFlag: false };
}
