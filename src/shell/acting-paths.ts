/**
 * The files that a command names which does more than read, for Read and Edit rules.
 *
 * Nothing here lets anything pass: such a command is asked about unless a rule allows it, so what is named
 * in doubt counts, and what is not known does not.
 */
import type { PathUse } from '../tool/located-path.ts';
import { foundBy } from './fed-words.ts';
import { launchedCommands } from './launchers.ts';
import { resolveFrom } from './operand-paths.ts';
import type { CommandJudgement } from './program-spec.ts';
import { isFinderName, isLauncherName } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import { basename, spellings } from './spellings.ts';
import type { ShellWord } from './word.ts';
import { writtenWord } from './written-word.ts';

type Access = PathUse['access'];
type Bases = readonly string[] | undefined;

/** Options by which programs that nobody knows say that they change what they are given: `prettier --write`. */
const CHANGING = /^(?:-[iw]|--(?:write|fix|in-?place|overwrite|update)(?:=.*)?)$/;

/** An option that names what is written, in the next word or in its own. */
const OUTPUT = /^(?:-[a-zA-Z]*[oO]|--?(?:\w+_)?out[\w-]*|--(?:directory-prefix|target-directory)|-fprint[0f]?|-fls)$/;
const ATTACHED_OUTPUT = /^(?:-[oO](?!ut$)|--(?:\w+_)?out[\w-]*=|--(?:directory-prefix|target-directory)=|of=)(.+)$/s;

/** Most paths that are looked for in a script of another language, and in one word. */
const MAX_MENTIONED = 64;
const MAX_PIECES = 8;

/** Every path such a command names, with what it may do to it. @param fed Words that come to it by a pipe. */
export function actingPaths(
  given: readonly ShellWord[],
  judged: CommandJudgement,
  bases: Bases,
  fed: readonly ShellWord[] = [],
): readonly PathUse[] {
  const uses = (found: readonly ShellWord[], access: Access): readonly PathUse[] =>
    bases ? found.flatMap(knownOf).flatMap((word) => resolveFrom(word, access, bases)) : [];
  const words = withFound(given, fed);
  const launched = launchedCommands(words.map((word) => word.literal ?? word.text));
  // `sudo tee f`, `find -exec cp a b \;`: what is launched writes.
  const writerAt = words.findIndex(({ literal }) => literal !== undefined && isWriter(basename(literal)));
  const outer = basename(words[0]?.literal ?? '');
  const mayLaunch = launched.isLauncher || isFinderName(outer);
  const mentioned = launched.isInterpreter ? launched.scripts.flatMap(pathsIn) : [];
  const usesOf = (command: readonly ShellWord[]): readonly PathUse[] => {
    const operands = operandsOf(command);
    const program = basename(command[0]?.literal ?? '');
    const named = words.slice(1).flatMap(namedIn);
    const { isExtractor, readsOperands, writesOperands } = recordOf(program) ?? {};
    const elsewhere = isExtractor === true ? belowFolders(words, operands) : [];
    const isWhole = takesAll(program, command);
    if (isWriter(program)) {
      const operated = writerUses(program, command, operands, uses);
      return [...operated.map((use) => ({ ...use, ...(isWhole && { isWhole }) })), ...uses(outputs(words), 'write')];
    }
    return [
      ...(isWhole ? uses(operands, 'read').map((use) => ({ ...use, isWhole })) : []),
      ...uses(
        [...judged.reads, ...named, ...elsewhere, ...(readsOperands === 'all' ? operands : []), ...mentioned],
        'read',
      ),
      ...uses([...outputs(words), ...mentioned, ...(writesOperands === 'first' ? operands.slice(0, 1) : [])], 'write'),
      ...(changesWhatItReads(words, mayLaunch) ? uses([...judged.reads, ...named, ...operands], 'write') : []),
    ];
  };
  if (!mayLaunch || writerAt <= 0) return usesOf(words);
  const launchedUses = usesOf(words.slice(writerAt));
  // `sort --compress-program gzip .env`: a program that only an option makes a launcher acts on its own operands, too.
  const hasOwnOperands = !isLauncherName(outer) && !isFinderName(outer);
  return hasOwnOperands ? [...launchedUses, ...usesOf(words)] : launchedUses;
}

function operandsOf(command: readonly ShellWord[]): readonly ShellWord[] {
  return command
    .slice(1)
    .filter((word) => (!word.mayBeFlag || word.literal === undefined) && !/^[;+]$/.test(word.literal ?? ''));
}

/** What is not known at all names no path; what may be this or that names both. */
function knownOf(word: ShellWord): readonly ShellWord[] {
  if (word.patterns ?? word.roots) return [word];
  return word.guesses ? [{ ...word, patterns: word.guesses }] : [];
}

/** What find finds stands in the place of `{}`, what xargs is given in that of its mark or at the end. */
function withFound(words: readonly ShellWord[], fed: readonly ShellWord[]): readonly ShellWord[] {
  const isFinder = isFinderName(basename(words[0]?.literal ?? ''));
  const found = isFinder ? foundBy(words) : fed;
  const at = words.findIndex(({ literal }) => literal?.startsWith('-I') === true);
  if (!isFinder && at < 0) return [...words, ...found];
  const given = words[at]?.literal?.slice(2);
  const mark = isFinder ? '{}' : given === '' ? words[at + 1]?.literal : given;
  return words.flatMap((word, place) => (word.literal === mark && place !== at + 1 ? found : [word]));
}

/** `tar -C DIR a`: the operands lie below DIR. */
function belowFolders(words: readonly ShellWord[], operands: readonly ShellWord[]): readonly ShellWord[] {
  const folders = words.flatMap((word, at) => {
    if (/^(?:-C|--directory)$/.test(word.literal ?? '')) return words[at + 1]?.patterns ?? [];
    return /^(?:-C|--directory=)(.+)$/s.exec(word.literal ?? '')?.[1] ?? [];
  });
  return folders.flatMap((folder) =>
    operands.flatMap(({ literal }) => (literal === undefined ? [] : [writtenWord(`${folder}/${literal}`, false)])),
  );
}

function takesAll(program: string, [, first, ...rest]: readonly ShellWord[]): boolean {
  const { wholeTreeOptions: option, isExtractor } = recordOf(program) ?? {};
  // `tar cf`
  const leading = (first?.literal ?? '').replace(/^(?=[a-zA-Z])/, isExtractor === true ? '-' : '');
  const texts = [leading, ...rest.map(({ literal }) => literal ?? '')];
  return (
    option !== undefined &&
    texts.some((text) => option.test(text)) &&
    !texts.some((text) => text.startsWith('--exclude'))
  );
}

function isWriter(program: string): boolean {
  return /^(?:all|last)$/.test(recordOf(program)?.writesOperands ?? '');
}

function writerUses(
  program: string,
  words: readonly ShellWord[],
  operands: readonly ShellWord[],
  uses: (found: readonly ShellWord[], access: Access) => readonly PathUse[],
): readonly PathUse[] {
  const { writesOperands, readsOperands, hasReadOptions } = recordOf(program) ?? {};
  // With -t the target stands first, or anywhere.
  const hasTarget = words.some(({ literal }) => /^-\w*t$|^--target/.test(literal ?? ''));
  const written = writesOperands === 'all' || hasTarget ? operands : operands.slice(-1);
  const read = readsOperands === 'others' && !hasTarget ? operands.slice(0, -1) : operands;
  const named = hasReadOptions === true ? words.slice(1).flatMap(namedIn) : [];
  return [...uses([...(readsOperands ? read : []), ...named], 'read'), ...uses(written, 'write')];
}

function changesWhatItReads(words: readonly ShellWord[], mayLaunch: boolean): boolean {
  const program = basename(words[0]?.literal ?? '');
  const texts = words.slice(1).map(({ literal }) => literal ?? '');
  const { changingCommands, changesInPlace, hasOwnMeanings } = recordOf(program) ?? {};
  if (changingCommands)
    return changingCommands.test(
      spellings([program, ...texts])
        .at(-1)
        ?.slice(1, 3)
        .join(' ') ?? '',
    );
  if (changesInPlace && texts.some((text) => changesInPlace.test(text))) return true;
  const editors = mayLaunch ? texts.map(editorOptions) : [];
  const editorAt = editors.findIndex((options) => options !== undefined);
  if (editorAt >= 0) return texts.slice(editorAt + 1).some((text) => editors[editorAt]?.test(text));
  return !changesInPlace && hasOwnMeanings !== true && texts.some((text) => CHANGING.test(text));
}

/** The options by which an editor changes files in place: of finders and archivers, other words may look the same. */
function editorOptions(text: string): RegExp | undefined {
  const { changesInPlace, isExtractor, isFinder } = recordOf(basename(text)) ?? {};
  return isExtractor === true || isFinder === true ? undefined : changesInPlace;
}

function outputs(words: readonly ShellWord[]): readonly ShellWord[] {
  const own = recordOf(basename(words[0]?.literal ?? ''))?.outputOptions;
  return words.flatMap((word, at) => {
    const attached = ATTACHED_OUTPUT.exec(word.literal ?? '')?.[1];
    if (attached !== undefined) return [writtenWord(attached, false)];
    const next = words[at + 1];
    const isOutput = OUTPUT.test(word.literal ?? '') || own?.test(word.literal ?? '') === true;
    return next && !next.mayBeFlag && isOutput ? [next] : [];
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
    .slice(0, MAX_MENTIONED)
    .map((value) => writtenWord(value, false));
}

/** The paths that a word may name: itself, and what stands in `@.env`, `-f.env`, `if=.env`, `--env-file=.env`, `.env:/in`. */
function namedIn(word: ShellWord): readonly ShellWord[] {
  const texts = word.literal === undefined ? (word.patterns ?? word.guesses) : [word.literal];
  if (texts === undefined) return [word];
  return texts.flatMap((whole) => {
    const text = whole.replace(/^file:\/\/(?:localhost)?(?=\/)/, '');
    const pieces = text.includes('://') ? [] : text.split(/[=,:]@?|^@/).filter((piece) => piece !== '');
    const attached = /^-[a-zA-Z](.+)$/s.exec(text)?.[1];
    const values = [
      text,
      ...(pieces.length > 1 || text.startsWith('@') ? pieces : []),
      ...(attached === undefined ? [] : [attached]),
    ];
    return values
      .filter(looksLikePath)
      .slice(0, MAX_PIECES)
      .map((value) => writtenWord(value, false));
  });
}
