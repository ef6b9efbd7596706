/** Judges one simple command: finds the program behind its wrappers, and whether it only reads. */
import type { Redirect } from 'unbash';
import type { PathUse } from '../tool/located-path.ts';
import { type EndFacts, endlessProblem } from './endless-command.ts';
import { hidesProgram } from './hidden-program.ts';
import { resolveFrom } from './operand-paths.ts';
import { type CommandJudgement, judgeProgram, NO_PATHS, type ScriptFacts } from './program-spec.ts';
import { findRecord } from './programs/index.ts';
import { isShortTime } from './programs/system.ts';
import { isPrivateName } from './variable-values.ts';
import type { ShellWord } from './word.ts';
import { unwrap, type Unwrapped } from './wrappers.ts';

/** Upper bound of nested wrappers. */
const MAX_WRAPPERS = 8;

/** A word of unknown value, such as those that xargs appends. */
const UNKNOWN_WORDS: ShellWord = { text: '', prefix: '', isSplit: true, mayBeFlag: true };

/** Context of one command. */
export interface CommandFacts extends ScriptFacts, EndFacts {
  /** Folders that contain the paths read from standard input, if the input consists of paths only. */
  readonly inputRoots?: readonly string[];
}

/** Judge a command by its decoded words, program first. */
export function judgeCommand(words: readonly ShellWord[], facts: CommandFacts): CommandJudgement {
  // Checked here only: behind a wrapper the name refers to a program, not to the function.
  const own = words[0]?.literal;
  if (own !== undefined && facts.functions.has(own)) return { reads: NO_PATHS };
  const judged = judgeDeep(words, facts, MAX_WRAPPERS);
  return judged.problem !== undefined && hidesProgram(words) ? { ...judged, hidesProgram: true } : judged;
}

/** Report whether a function of this name shadows no program or builtin. */
export function isOwnFunctionName(name: string): boolean {
  const { reads, wraps, isBuiltin } = findRecord(name) ?? {};
  // In some modes bash finds certain builtins before functions.
  const isTaken = reads !== undefined || wraps !== undefined || isBuiltin === true;
  return isPrivateName(name) && !isTaken;
}

/**
 * Return the name of the program: the word itself, or the last part of a path into a system folder.
 *
 * @returns undefined for a word that is not literal, and for programs in other folders.
 */
export function programName(word: ShellWord | undefined): string | undefined {
  const text = word?.literal;
  if (text === undefined || text === '') return undefined;
  return /^(?:(?:\/usr(?:\/local)?)?\/bin\/)?([^/]+)$/.exec(text)?.[1];
}

function judgeDeep(words: readonly ShellWord[], facts: CommandFacts, depth: number): CommandJudgement {
  const [first, ...rest] = words;
  const name = programName(first);
  if (name === undefined)
    return deny(
      first?.literal === undefined ? 'the program cannot be known' : `"${first.literal}" is not a known program`,
    );
  const unwrapped = unwrap(name, rest);
  if (!unwrapped) {
    const spec = findRecord(name)?.reads;
    if (!spec) return deny(`"${name}" is not known to only read`);
    const judged = judgeProgram(spec, rest, facts);
    const endless = judged.problem ?? endlessProblem(name, rest, judged.reads, facts);
    return endless === undefined ? judged : { ...judged, problem: endless };
  }
  if (unwrapped.problem !== undefined) return deny(unwrapped.problem);
  if (depth === 0) return deny('too many wrappers');
  if (!unwrapped.takesInput)
    return unwrapped.inner.length === 0
      ? { reads: NO_PATHS, ...(name === 'command' && { testedPaths: rest }) }
      : judgeDeep(unwrapped.inner, isTimeout(words, unwrapped) ? { ...facts, isTimed: true } : facts, depth - 1);
  return judgeWithInput(unwrapped, facts, depth);
}

/** Report whether this is `timeout 5 …` with a short limit; zero means no limit. */
function isTimeout(words: readonly ShellWord[], { inner }: Unwrapped): boolean {
  const duration = words[words.length - inner.length - 1]?.literal ?? '';
  return programName(words[0]) === 'timeout' && /[1-9]/.test(duration) && isShortTime(duration);
}

/**
 * Judge the inner command of xargs, which appends unknown words: harmless only if no option of that program does harm.
 */
function judgeWithInput(unwrapped: Unwrapped, facts: CommandFacts, depth: number): CommandJudgement {
  const judged = judgeInnerOfXargs(unwrapped, facts, depth);
  return unwrapped.inputFile ? { ...judged, reads: [...judged.reads, unwrapped.inputFile] } : judged;
}

function judgeInnerOfXargs(unwrapped: Unwrapped, facts: CommandFacts, depth: number): CommandJudgement {
  const { inner } = unwrapped;
  if (inner.length === 0) return { reads: NO_PATHS };
  const name = programName(inner[0]);
  if (name === 'echo' || name === 'printf')
    return judgeDeep(inner.length > 1 || name === 'echo' ? inner : [...inner, UNKNOWN_WORDS], facts, depth - 1);
  const spec = name === undefined ? undefined : findRecord(name)?.reads;
  if (!spec?.isOpen || spec.maxOperands !== undefined)
    return deny(`what "${inner[0]?.text ?? ''}" is given cannot be known`);
  return judgeDeep(xargsWords(unwrapped, facts.inputRoots), facts, depth - 1);
}

/** Return the words that xargs runs; a word that contains the placeholder and more may become any path. */
function xargsWords(
  { inner, placeholder, isForeignInput }: Unwrapped,
  roots: readonly string[] | undefined,
): readonly ShellWord[] {
  const input = roots && !isForeignInput ? { ...UNKNOWN_WORDS, roots } : UNKNOWN_WORDS;
  const filled = inner.map((word) => {
    if (placeholder === undefined) return word;
    if (word.literal === placeholder) return input;
    const folder = roots && !isForeignInput ? folderBefore(placeholder, word, roots) : undefined;
    if (folder !== undefined) return { ...UNKNOWN_WORDS, prefix: folder, roots: [folder], mayBeFlag: false };
    return word.literal === undefined || word.literal.includes(placeholder) ? UNKNOWN_WORDS : word;
  });
  return [...filled, input];
}

/**
 * Return the folder before the placeholder, as in `cat sub/{}`: every listed path lies below `sub/`, since none of them
 * contains `..`.
 */
function folderBefore(placeholder: string, { literal }: ShellWord, roots: readonly string[]): string | undefined {
  const [folder = '', rest, ...more] = literal?.split(placeholder) ?? [];
  if (rest === undefined || more.length > 0) return undefined;
  const isPlain = /^[\w@./-]*[\w@.]\/$/.test(folder) && /^(?:[./]\w[\w./-]*)?$/.test(rest);
  return isPlain && ![folder, rest, ...roots].some((text) => text.includes('..')) ? folder : undefined;
}

function deny(problem: string): CommandJudgement {
  return { problem, reads: NO_PATHS };
}

/** Judgement of one redirection. */
interface RedirectJudgement {
  /** Reason why it does more than read. */
  readonly problem?: string;
  readonly paths: readonly PathUse[];
}

/**
 * Judge a redirection.
 *
 * @param target Decoded target.
 * @param bases Possible working directories.
 * @param mayMove True if the working directory may have changed by then.
 */
export function judgeRedirect(
  { operator }: Redirect,
  target: readonly ShellWord[],
  bases: readonly string[] | undefined,
  mayMove: boolean,
): RedirectJudgement {
  const [word, ...more] = target;
  if (!word || more.length > 0) return { problem: 'a redirection cannot be known', paths: [] };
  if (operator === '<') {
    const paths = word.literal === '/dev/null' ? [] : resolveFrom(word, 'read', bases);
    const problem = inputProblem(word, mayMove);
    return { paths, ...(problem !== undefined && { problem }) };
  }
  const isCopy = (operator === '>&' || operator === '<&') && /^(?:\d+-?|-)$/.test(word.literal ?? '');
  const isNull = word.literal === '/dev/null' && operator !== '<>' && operator !== '<&';
  if (isCopy || isNull) return { paths: [] };
  return { problem: `it writes "${word.text}"`, paths: resolveFrom(word, 'write', bases) };
}

/** Explain why an input may be a network connection, or return undefined. */
function inputProblem(word: ShellWord, mayMove: boolean): string | undefined {
  const isKnown = word.patterns
    ? word.patterns.length > 0
    : (word.prefix !== '' && !'/dev/'.startsWith(word.prefix.slice(0, 5))) || word.prefix.startsWith('/dev/fd/');
  const isDevice = (word.patterns ?? [word.prefix]).some(
    (text) =>
      /^\/+(?:\.\/+)*dev\/+(?:tcp|udp)/.test(text) ||
      /^\/[^/]*[*?[]/.test(text) ||
      // Some users have /dev as their home folder, and the shell may have moved there.
      /^~[^/]/.test(text) ||
      (/^\.(?:\/|$)/.test(text) && word.literal === undefined && mayMove),
  );
  return isKnown && !isDevice ? undefined : `it may connect to "${word.text}"`;
}
