/**
 * Paths of a command that does more than read, for Read and Edit rules.
 *
 * The result allows nothing: such a command is asked about unless a rule allows it. A doubtful path is therefore
 * included, an unknown one left out.
 */
import type { PathUse } from '../tool/located-path.ts';
import { findOutputWords } from './input-words.ts';
import { launchedCommands } from './launchers.ts';
import { resolveFrom } from './operand-paths.ts';
import type { CommandJudgement } from './program-spec.ts';
import { isFinderName, isLauncherName } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import { basename, spellings } from './spellings.ts';
import type { ShellWord } from './word.ts';
import { literalWord } from './literal-word.ts';

type Access = PathUse['access'];
type Bases = readonly string[] | undefined;

/** Options that mean writing in place in programs without a record: `prettier --write`. */
const IN_PLACE_OPTION = /^(?:-[iw]|--(?:write|fix|in-?place|overwrite|update)(?:=.*)?)$/;

/** Options that name an output file, in the next word or in the same one. */
const OUTPUT = /^(?:-[a-zA-Z]*[oO]|--?(?:\w+_)?out[\w-]*|--(?:directory-prefix|target-directory)|-fprint[0f]?|-fls)$/;
const ATTACHED_OUTPUT = /^(?:-[oO](?!ut$)|--(?:\w+_)?out[\w-]*=|--(?:directory-prefix|target-directory)=|of=)(.+)$/s;

/** Upper bounds of the paths taken from a script of another language, and from one word. */
const MAX_SCRIPT_PATHS = 64;
const MAX_WORD_PATHS = 8;

/**
 * List the paths that such a command names, with the access to each.
 *
 * @param fed Words that it receives through a pipe.
 */
export function sideEffectPaths(
  given: readonly ShellWord[],
  judged: CommandJudgement,
  bases: Bases,
  fed: readonly ShellWord[] = [],
): readonly PathUse[] {
  const uses = (found: readonly ShellWord[], access: Access): readonly PathUse[] =>
    bases ? found.flatMap(knownValues).flatMap((word) => resolveFrom(word, access, bases)) : [];
  const words = insertInputWords(given, fed);
  const launched = launchedCommands(words.map((word) => word.literal ?? word.text));
  // `sudo tee f`, `find -exec cp a b \;`: the launched program writes.
  const writerAt = words.findIndex(({ literal }) => literal !== undefined && isWriter(basename(literal)));
  const outer = basename(words[0]?.literal ?? '');
  const mayLaunch = launched.isLauncher || isFinderName(outer);
  const mentioned = launched.isInterpreter ? launched.scripts.flatMap(pathsInScript) : [];
  const usesOf = (command: readonly ShellWord[]): readonly PathUse[] => {
    const operands = operandsOf(command);
    const program = basename(command[0]?.literal ?? '');
    const named = words.slice(1).flatMap(pathsInWord);
    const { isExtractor, readsOperands, writesOperands } = recordOf(program) ?? {};
    const elsewhere = isExtractor === true ? belowFolders(words, operands) : [];
    const isWhole = includesWholeTree(program, command);
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
      ...(changesReadFiles(words, mayLaunch) ? uses([...judged.reads, ...named, ...operands], 'write') : []),
    ];
  };
  if (!mayLaunch || writerAt <= 0) return usesOf(words);
  const launchedUses = usesOf(words.slice(writerAt));
  // `sort --compress-program gzip .env`: a program that is a launcher only by an option also uses its own operands.
  const hasOwnOperands = !isLauncherName(outer) && !isFinderName(outer);
  return hasOwnOperands ? [...launchedUses, ...usesOf(words)] : launchedUses;
}

function operandsOf(command: readonly ShellWord[]): readonly ShellWord[] {
  return command
    .slice(1)
    .filter((word) => (!word.mayBeFlag || word.literal === undefined) && !/^[;+]$/.test(word.literal ?? ''));
}

/** Return the word with its known or guessed values; nothing if there are none. */
function knownValues(word: ShellWord): readonly ShellWord[] {
  if (word.patterns ?? word.roots) return [word];
  return word.guesses ? [{ ...word, patterns: word.guesses }] : [];
}

/** Insert the paths of find in place of `{}`, and the words of xargs in place of its placeholder or at the end. */
function insertInputWords(words: readonly ShellWord[], fed: readonly ShellWord[]): readonly ShellWord[] {
  const isFinder = isFinderName(basename(words[0]?.literal ?? ''));
  const found = isFinder ? findOutputWords(words) : fed;
  const at = words.findIndex(({ literal }) => literal?.startsWith('-I') === true);
  if (!isFinder && at < 0) return [...words, ...found];
  const given = words[at]?.literal?.slice(2);
  const mark = isFinder ? '{}' : given === '' ? words[at + 1]?.literal : given;
  return words.flatMap((word, place) => (word.literal === mark && place !== at + 1 ? found : [word]));
}

/** Resolve operands against `-C`: in `tar -C DIR a` they lie below DIR. */
function belowFolders(words: readonly ShellWord[], operands: readonly ShellWord[]): readonly ShellWord[] {
  const folders = words.flatMap((word, at) => {
    if (/^(?:-C|--directory)$/.test(word.literal ?? '')) return words[at + 1]?.patterns ?? [];
    return /^(?:-C|--directory=)(.+)$/s.exec(word.literal ?? '')?.[1] ?? [];
  });
  return folders.flatMap((folder) =>
    operands.flatMap(({ literal }) => (literal === undefined ? [] : [literalWord(`${folder}/${literal}`, false)])),
  );
}

function includesWholeTree(program: string, [, first, ...rest]: readonly ShellWord[]): boolean {
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
  // With -t the target comes first, or anywhere.
  const hasTarget = words.some(({ literal }) => /^-\w*t$|^--target/.test(literal ?? ''));
  const written = writesOperands === 'all' || hasTarget ? operands : operands.slice(-1);
  const read = readsOperands === 'others' && !hasTarget ? operands.slice(0, -1) : operands;
  const named = hasReadOptions === true ? words.slice(1).flatMap(pathsInWord) : [];
  return [...uses([...(readsOperands ? read : []), ...named], 'read'), ...uses(written, 'write')];
}

function changesReadFiles(words: readonly ShellWord[], mayLaunch: boolean): boolean {
  const program = basename(words[0]?.literal ?? '');
  const texts = words.slice(1).map(({ literal }) => literal ?? '');
  const { changingCommands, changesInPlace, hasUnrelatedWriteOptions } = recordOf(program) ?? {};
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
  return !changesInPlace && hasUnrelatedWriteOptions !== true && texts.some((text) => IN_PLACE_OPTION.test(text));
}

/** Return the in-place options of an editor. Finders and archivers are left out: their words may look the same. */
function editorOptions(text: string): RegExp | undefined {
  const { changesInPlace, isExtractor, isFinder } = recordOf(basename(text)) ?? {};
  return isExtractor === true || isFinder === true ? undefined : changesInPlace;
}

function outputs(words: readonly ShellWord[]): readonly ShellWord[] {
  const own = recordOf(basename(words[0]?.literal ?? ''))?.outputOptions;
  return words.flatMap((word, at) => {
    const attached = ATTACHED_OUTPUT.exec(word.literal ?? '')?.[1];
    if (attached !== undefined) return [literalWord(attached, false)];
    const next = words[at + 1];
    const isOutput = OUTPUT.test(word.literal ?? '') || own?.test(word.literal ?? '') === true;
    return next && !next.mayBeFlag && isOutput ? [next] : [];
  });
}

function looksLikePath(text: string): boolean {
  return /[./]/.test(text) && !text.includes('://') && text.length < 1_024 && !/[\n{}();|<>]/.test(text);
}

/** List the texts of a script that may be paths: `open(".env")`. Devices and kernel files are left out. */
function pathsInScript(script: string): readonly ShellWord[] {
  return script
    .split(/[\s'"`()[\]{},;:=<>|&!$#*?\\]+/)
    .filter((text) => looksLikePath(text) && !/^\/(?:dev|proc|sys)\b|^[./\d]*$/.test(text))
    .slice(0, MAX_SCRIPT_PATHS)
    .map((value) => literalWord(value, false));
}

/**
 * List the paths that a word may contain: the whole word, and parts of `@.env`, `-f.env`, `if=.env`, `--env-file=.env`,
 * `.env:/in`.
 */
function pathsInWord(word: ShellWord): readonly ShellWord[] {
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
      .slice(0, MAX_WORD_PATHS)
      .map((value) => literalWord(value, false));
  });
}
