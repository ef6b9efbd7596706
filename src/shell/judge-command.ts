/** One simple command: which program it is, behind which wrappers, and whether that only reads. */
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

/** Wrappers in wrappers in wrappers; nobody writes more. */
const MAX_WRAPPERS = 8;

/** A word that may turn out to be anything, as xargs appends them. */
const UNKNOWN_WORDS: ShellWord = { text: '', prefix: '', isSplit: true, mayBeFlag: true };

/** What is known around one command. */
export interface CommandFacts extends ScriptFacts, EndFacts {
  /** Where the paths lie that come in by its standard input, where only paths come in. */
  readonly inputRoots?: readonly string[];
}

/** Judge a command by its decoded words, the program's first. */
export function judgeCommand(words: readonly ShellWord[], facts: CommandFacts): CommandJudgement {
  // Only here: behind a wrapper the name is a program's, not the function's.
  const own = words[0]?.literal;
  if (own !== undefined && facts.functions.has(own)) return { reads: NO_PATHS };
  const judged = judgeDeep(words, facts, MAX_WRAPPERS);
  return judged.problem !== undefined && hidesProgram(words) ? { ...judged, hidesProgram: true } : judged;
}

/** Whether a function of this name takes nothing else's place. */
export function isOwnFunctionName(name: string): boolean {
  const { reads, wraps, isBuiltin } = findRecord(name) ?? {};
  // Some modes of bash find certain builtins before any function.
  const isTaken = reads !== undefined || wraps !== undefined || isBuiltin === true;
  return isPrivateName(name) && !isTaken;
}

/**
 * The program a word names: the word itself, or the last part of a path into a system folder.
 *
 * @returns undefined for what is not written out, and for programs elsewhere.
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
      ? { reads: NO_PATHS, ...(name === 'command' && { looksFor: rest }) }
      : judgeDeep(unwrapped.inner, isTimeout(words, unwrapped) ? { ...facts, isTimed: true } : facts, depth - 1);
  return judgeWithInput(unwrapped, facts, depth);
}

/** `timeout 5 …`; a time of zero is none. */
function isTimeout(words: readonly ShellWord[], { inner }: Unwrapped): boolean {
  const duration = words[words.length - inner.length - 1]?.literal ?? '';
  return programName(words[0]) === 'timeout' && /[1-9]/.test(duration) && isShortTime(duration);
}

/** xargs appends words that nobody knows: harmless only where no option of the inner program does harm. */
function judgeWithInput(unwrapped: Unwrapped, facts: CommandFacts, depth: number): CommandJudgement {
  const judged = judgeFed(unwrapped, facts, depth);
  return unwrapped.inputFile ? { ...judged, reads: [...judged.reads, unwrapped.inputFile] } : judged;
}

function judgeFed(unwrapped: Unwrapped, facts: CommandFacts, depth: number): CommandJudgement {
  const { inner } = unwrapped;
  if (inner.length === 0) return { reads: NO_PATHS };
  const name = programName(inner[0]);
  if (name === 'echo' || name === 'printf')
    return judgeDeep(inner.length > 1 || name === 'echo' ? inner : [...inner, UNKNOWN_WORDS], facts, depth - 1);
  const spec = name === undefined ? undefined : findRecord(name)?.reads;
  if (!spec?.isOpen || spec.mostOperands !== undefined)
    return deny(`what "${inner[0]?.text ?? ''}" is given cannot be known`);
  return judgeDeep(withInput(unwrapped, facts.inputRoots), facts, depth - 1);
}

/** The words xargs runs; a word that holds the placeholder and more may become any path. */
function withInput(
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

/** `cat sub/{}`: whatever is listed, this lies below `sub/`, as nothing in it can climb. */
function folderBefore(placeholder: string, { literal }: ShellWord, roots: readonly string[]): string | undefined {
  const [folder = '', rest, ...more] = literal?.split(placeholder) ?? [];
  if (rest === undefined || more.length > 0) return undefined;
  const isPlain = /^[\w@./-]*[\w@.]\/$/.test(folder) && /^(?:[./]\w[\w./-]*)?$/.test(rest);
  return isPlain && ![folder, rest, ...roots].some((text) => text.includes('..')) ? folder : undefined;
}

function deny(problem: string): CommandJudgement {
  return { problem, reads: NO_PATHS };
}

/** What is known of one redirection. */
interface RedirectJudgement {
  /** Why it does more than read. */
  readonly problem?: string;
  readonly paths: readonly PathUse[];
}

/**
 * Judge a redirection.
 *
 * @param target Its decoded target.
 * @param bases Where relative paths may start from.
 * @param mayMove The working directory may be another one by then.
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

/** Why an input may be a connection, or undefined. */
function inputProblem(word: ShellWord, mayMove: boolean): string | undefined {
  const isKnown = word.patterns
    ? word.patterns.length > 0
    : (word.prefix !== '' && !'/dev/'.startsWith(word.prefix.slice(0, 5))) || word.prefix.startsWith('/dev/fd/');
  const isDevice = (word.patterns ?? [word.prefix]).some(
    (text) =>
      /^\/+(?:\.\/+)*dev\/+(?:tcp|udp)/.test(text) ||
      /^\/[^/]*[*?[]/.test(text) ||
      // The home of some users is /dev, and so may be where the shell has moved to.
      /^~[^/]/.test(text) ||
      (/^\.(?:\/|$)/.test(text) && word.literal === undefined && mayMove),
  );
  return isKnown && !isDevice ? undefined : `it may connect to "${word.text}"`;
}
