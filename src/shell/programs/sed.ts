/** Judges sed scripts command by command, since they can write files (`w`, `W`) and run programs (`e`). */
import { sedLoopFinder } from '../endless-program.ts';
import { flagTable, parseArguments } from '../flags.ts';
import type { CommandJudgement, ProgramSpec } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

// -l is excluded: on BSD it takes no value, and the next word is the script.
const FLAGS = flagTable(
  '-nErsuz -e= --quiet --silent --expression= --regexp-extended --separate --unbuffered --null-data --line-length= --posix --sandbox --debug --help --version',
);

/** The spec of sed. */
export const SED: ProgramSpec = { judge: judgeSed };

/**
 * Matches scripts of addresses and printing commands, harmless for any integers; sed refuses a negative one at the
 * start.
 */
const PRINTS_LINES = /^[\d,;$!+~pqd= {}]+$/;

function judgeSed(words: readonly ShellWord[]): CommandJudgement {
  const { flags, operands, problem } = parseArguments(words.map(withIntegers), { flags: FLAGS });
  if (problem !== undefined) return { problem, reads: operands };
  const given = flags.filter(({ name }) => name === '-e' || name === '--expression').map(({ value }) => value);
  const scripts = given.length > 0 ? given : operands.slice(0, 1);
  const reads = given.length > 0 ? operands : operands.slice(1);
  // Several -e are joined by line ends, so text of `a` may continue in the next.
  const texts = scripts.map((script) => (script?.isSplit ? undefined : scriptText(script)));
  if (texts.some((text) => text === undefined)) return { problem: 'the script of sed cannot be known', reads };
  const wrong = scriptProblem(texts.join('\n'));
  return { reads, ...(wrong !== undefined && { problem: wrong }) };
}

/** Replace integers in a script (`sed -n "${n}p"`) by their skeleton: they can only be an address or a count. */
function withIntegers(word: ShellWord): ShellWord {
  const { skeleton } = word;
  return skeleton !== undefined && PRINTS_LINES.test(skeleton)
    ? { ...word, literal: skeleton, mayBeFlag: false }
    : word;
}

function scriptText(script: ShellWord | undefined): string | undefined {
  return (
    script?.literal ??
    (script?.patterns?.length === 1 && !/[*?[]/.test(script.patterns[0] ?? '*') ? script.patterns[0] : undefined)
  );
}

/**
 * Explain why a script does more than edit the stream, or return undefined. Anything not understood is a reason.
 *
 * @param refused Letters of further commands to reject.
 */
export function scriptProblem(script: string, refused = ''): string | undefined {
  let at = 0;
  const unknown = 'the script of sed is not known to only read';
  const isEndless = sedLoopFinder();
  while (at < script.length) {
    const address = skip(script, at, /[\s;]*/y);
    const start = skipAddresses(script, address);
    if (start === undefined) return unknown;
    at = start;
    const command = script[at];
    if (command === undefined) return undefined;
    at++;
    const label = /[bT:]/.test(command)
      ? (/^[ \t]*([\w.-]*)/.exec(script.slice(at, at + MAX_LABEL_CHARS))?.[1] ?? '')
      : '';
    if (isEndless(command, script.slice(address, start).trim(), label)) return 'the script of sed may never end';
    if (/[{};\s]/.test(command)) continue;
    if (refused.includes(command)) return unknown;
    if (command === '#') at = lineEnd(script, at);
    else if (/[=dDgGhHnNpPxzF]/.test(command)) at = endOfCommand(script, at);
    else if (/[lqQ]/.test(command)) at = endOfCommand(script, skip(script, at, /[ \t]*\d*/y));
    else if (/[btT:]/.test(command)) at = endOfCommand(script, skip(script, at, /[ \t]*[\w.-]*/y));
    else if (/[aic]/.test(command)) at = textEnd(script, at);
    else if (command === 'y') at = endOfCommand(script, delimited(script, at, replacementEnd) ?? -1);
    else if (command === 's') {
      const end = delimited(script, at, regexEnd);
      if (end === undefined) return unknown;
      const flags = /^[gpiIm0-9]*/.exec(script.slice(end))?.[0] ?? '';
      at = endOfCommand(script, end + flags.length);
    } else return `command "${command}" of sed reads, writes or runs something`;
    if (at < 0) return unknown;
  }
  return undefined;
}

/** Longest label that is distinguished from others. */
const MAX_LABEL_CHARS = 64;

/** Skip `1`, `$`, `/re/`, `\cREc`, a range of them and `!`. @returns undefined if a pattern does not end. */
function skipAddresses(script: string, start: number): number | undefined {
  const first = skipAddress(script, start);
  if (first === undefined) return undefined;
  const comma = skip(script, first, /[ \t]*,[ \t]*[+~]?/y);
  const second = comma === first ? first : skipAddress(script, comma);
  return second === undefined ? undefined : skip(script, second, /[ \t]*(?:![ \t!]*)?/y);
}

function skipAddress(script: string, start: number): number | undefined {
  const opening = script[start] === '/' ? start + 1 : script[start] === '\\' ? start + 2 : undefined;
  if (opening === undefined) return skip(script, start, /\d+(?:~\d+)?|\$/y);
  // A bracket cannot both begin a bracket expression and end the pattern.
  if (/[[\]\\\n]/.test(script[opening - 1] ?? '')) return undefined;
  const end = regexEnd(script, opening, script[opening - 1] ?? '');
  return end === undefined ? undefined : skip(script, end, /[IM]*/y);
}

/** Skip the two delimited parts of `s` or `y`; the first part of `s` is a pattern. */
function delimited(script: string, at: number, firstEnd: typeof regexEnd): number | undefined {
  const delimiter = script[at];
  if (delimiter === undefined || /[\n\\\w\s[\]]/.test(delimiter)) return undefined;
  const middle = firstEnd(script, at + 1, delimiter);
  return middle === undefined ? undefined : replacementEnd(script, middle, delimiter);
}

/**
 * Find the end of a pattern. A delimiter in brackets does not end it: an implementation that reads it otherwise sees an
 * open bracket and refuses the whole script.
 */
function regexEnd(script: string, start: number, delimiter: string): number | undefined {
  for (let at = start; at < script.length; at++) {
    if (script[at] === '\\') at++;
    else if (script[at] === '[') {
      const end = bracketEnd(script, at);
      if (end === undefined) return undefined;
      at = end;
    } else if (script[at] === delimiter) return at + 1;
  }
  return undefined;
}

/** Find the closing `]`. @returns undefined if a backslash before one makes it ambiguous. */
function bracketEnd(script: string, start: number): number | undefined {
  const match = /\[\^?\]?(?:[^[\]\\\n]|\[[:.=][a-z]+[:.=]\]|\[(?![:.=])|\\(?!\]))*\]/y;
  match.lastIndex = start;
  return match.test(script) ? match.lastIndex - 1 : undefined;
}

/** Find the end of a replacement, or of a part of `y`, where brackets have no meaning. */
function replacementEnd(script: string, start: number, delimiter: string): number | undefined {
  for (let at = start; at < script.length; at++) {
    if (script[at] === '\\') at++;
    else if (script[at] === delimiter) return at + 1;
  }
  return undefined;
}

/** Skip blanks up to `;`, `}`, a comment, a line end or the end. @returns -1 if anything else follows. */
function endOfCommand(script: string, start: number): number {
  if (start < 0) return -1;
  const at = skip(script, start, /[ \t]*/y);
  const next = script[at];
  return next === undefined || /[;}\n#]/.test(next) ? at : -1;
}

/** Find the end of the text of a, i and c: the first line end without a backslash before it. */
function textEnd(script: string, start: number): number {
  for (let at = start; at < script.length; at++) {
    if (script[at] === '\\') at++;
    else if (script[at] === '\n') return at;
  }
  return script.length;
}

function lineEnd(script: string, start: number): number {
  const at = script.indexOf('\n', start);
  return at < 0 ? script.length : at;
}

function skip(text: string, start: number, pattern: RegExp): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}
