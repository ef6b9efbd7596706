/** Judges awk programs: those that only print are read-only; pipes, files and `system` are not. */
import { hasEndlessLoop } from '../endless-program.ts';
import { flagTable, parseArguments } from '../flags.ts';
import { type CommandJudgement, NO_PATHS, type ProgramSpec } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

const FLAGS = flagTable(
  '-F= -v= --field-separator= --assign= --re-interval --posix --traditional --characters-as-bytes --sandbox --version --help -V -P -c -r -b -S -M',
);

/** The spec of awk and its variants. */
export const AWK: ProgramSpec = { judge: judgeAwk };

/** Matches file names that cannot begin with `/inet`. */
const LOCAL_FILE = /^(?:[^/]|\/[^i*?[])/;

function judgeAwk(words: readonly ShellWord[]): CommandJudgement {
  const { flags, operands, problem } = parseArguments(words, { flags: FLAGS, stopsAtOperand: true });
  if (problem !== undefined) return { problem, reads: NO_PATHS };
  if (operands.length === 0) return { reads: NO_PATHS, ...(flags.length === 0 && { problem: 'awk lacks a program' }) };
  const [program, ...files] = operands;
  // gawk opens /inet/tcp/… as a connection, also in place of a data file.
  const mayConnect =
    files.some(({ prefix, patterns = [prefix] }) => !patterns.every((path) => LOCAL_FILE.test(path))) ||
    [...flags.map(({ value }) => value), ...files].some((word) => word?.prefix.includes('inet'));
  const wrong = program?.literal === undefined ? 'the program of awk cannot be known' : awkProblem(program.literal);
  const found = wrong ?? (mayConnect ? 'awk may open a connection' : undefined);
  return {
    reads: files.filter((file) => !/^[A-Za-z_]\w*=/.test(file.prefix)),
    ...(found !== undefined && { problem: found }),
  };
}

/** Meaning of a `/` at the current position. */
type Slash = 'pattern' | 'division' | 'unclear';

interface AwkState {
  at: number;
  slash: Slash;
  /** Open brackets; true for those of `if`, `while` and `for`, after which a pattern may begin. */
  brackets: boolean[];
  /** True in the operands of print or printf, where `>` writes a file. */
  isPrinting: boolean;
  lastName: string;
  /** Last character that is neither a blank nor in a comment; after some, a line end continues the statement. */
  lastMark: string;
}

const SIDE_EFFECT_NAMES =
  /^(?:system|getline|close|extension|include|load|namespace|ARGV|ARGC|PROCINFO|SYMTAB|FUNCTAB)$/;
const NAMES_BEFORE_PATTERN = /^(?:print|printf|return|in|else|do|case|exit|BEGIN|END)$/;

/** Explain why a program may do more than read its input and print, or return undefined. */
function awkProblem(program: string): string | undefined {
  if (program.includes('/inet')) return 'awk may open a connection';
  const state: AwkState = { at: 0, slash: 'pattern', brackets: [], isPrinting: false, lastName: '', lastMark: '' };
  let code = '';
  while (state.at < program.length) {
    const start = state.at;
    const problem = readToken(program, state);
    if (problem !== undefined) return problem;
    const token = program.slice(start, state.at);
    code += /^["#]|^\/./.test(token) ? '""' : token;
  }
  return hasEndlessLoop(code) ? 'the awk program may never end' : undefined;
}

function readToken(program: string, state: AwkState): string | undefined {
  const next = program[state.at] ?? '';
  if (next === '\\' && program[state.at + 1] === '\n') {
    state.at += 2;
    return undefined;
  }
  if (next === '"' || (next === '/' && state.slash === 'pattern')) {
    const end = quotedEnd(program, state.at + 1, next);
    if (end === undefined) return 'a text or pattern in the awk program does not end';
    advance(state, end, 'division', next);
    return undefined;
  }
  if (next === '#') {
    const end = program.indexOf('\n', state.at);
    state.at = end < 0 ? program.length : end;
    return undefined;
  }
  const name = /^[A-Za-z_]\w*/.exec(program.slice(state.at))?.[0];
  if (name !== undefined) return readName(name, state);
  const number = /^(?:\d|\.\d)[\d.]*(?:[eE][-+]?\d+)?/.exec(program.slice(state.at))?.[0];
  if (number !== undefined) {
    advance(state, state.at + number.length, 'division', '0');
    return undefined;
  }
  return readOperator(program, state, next);
}

function readName(name: string, state: AwkState): string | undefined {
  if (SIDE_EFFECT_NAMES.test(name)) return `"${name}" in awk reads, runs or writes something`;
  if (name === 'print' || name === 'printf') state.isPrinting = true;
  state.lastName = name;
  advance(state, state.at + name.length, slashAfterName(name), 'a');
  return undefined;
}

/** After a bare `length` implementations differ. */
function slashAfterName(name: string): Slash {
  if (name === 'length') return 'unclear';
  return NAMES_BEFORE_PATTERN.test(name) ? 'pattern' : 'division';
}

function readOperator(program: string, state: AwkState, next: string): string | undefined {
  const two = program.slice(state.at, state.at + 2);
  if (/[@'`\\]/.test(next)) return 'the awk program is not known to only read';
  if (next === '|' && two !== '||') return 'awk may run a command';
  if (two === '>>' || (next === '>' && state.isPrinting && state.brackets.length === 0)) return 'awk may write a file';
  if (next === '/' && state.slash === 'unclear') return 'a "/" in the awk program may be a pattern or a division';
  if (next === '\n') {
    // After any other character the statement continues in the next line.
    if (/[a0"/)\]};+-]/.test(state.lastMark)) state.isPrinting = false;
    state.at++;
    state.slash = 'pattern';
    return undefined;
  }
  if (/\s/.test(next)) {
    state.at++;
    return undefined;
  }
  if (next === '(' || next === '[')
    state.brackets.push(next === '(' && state.lastMark === 'a' && /^(?:if|while|for)$/.test(state.lastName));
  const isControl = next === ')' || next === ']' ? state.brackets.pop() === true : false;
  if (next === '{' || next === '}') state.brackets = [];
  if (/[;{}]/.test(next)) state.isPrinting = false;
  advance(state, state.at + (isPair(two) ? 2 : 1), slashAfter(next, two, isControl), next);
  return undefined;
}

function isPair(two: string): boolean {
  return two === '||' || two === '&&' || two === '++' || two === '--';
}

function slashAfter(next: string, two: string, isControl: boolean): Slash {
  if (two === '++' || two === '--' || next === '$') return 'unclear';
  if (next === ')') return isControl ? 'unclear' : 'division';
  return next === ']' ? 'division' : 'pattern';
}

function advance(state: AwkState, at: number, slash: Slash, mark: string): void {
  state.at = at;
  state.slash = slash;
  state.lastMark = mark;
}

/**
 * Return the position after the closing quote. A line end before it is an error, and so is a `/` that may be inside
 * brackets.
 */
function quotedEnd(program: string, start: number, quote: string): number | undefined {
  for (let at = start; at < program.length; at++) {
    if (program[at] === '\\') at++;
    else if (program[at] === '\n') return undefined;
    else if (program[at] === quote)
      return quote === '/' && mayEndInBracket(program.slice(start, at)) ? undefined : at + 1;
  }
  return undefined;
}

/** One implementation's rules for the end of a bracket expression. */
interface BracketReading {
  /** True if a backslash escapes inside brackets, too. */
  readonly hasEscapes: boolean;
  /** Positions at which a `]` directly after the opening bracket is text. */
  readonly takesFirst: 'always' | 'at the start' | 'never';
  /** Reading of `[:` inside brackets: skipped up to `:]`, counted as one more bracket to close, or plain text. */
  readonly classes: 'skipped' | 'counted' | 'text';
}

/** gawk, mawk, busybox and the original awk differ in each of these, and in whether brackets protect a `/` at all. */
const BRACKET_READINGS: readonly BracketReading[] = [true, false].flatMap((hasEscapes) =>
  (['always', 'at the start', 'never'] as const).flatMap((takesFirst) =>
    (['skipped', 'counted', 'text'] as const).map((classes) => ({ hasEscapes, takesFirst, classes })),
  ),
);

/** Report whether this text ends inside a bracket expression in any implementation. */
function mayEndInBracket(pattern: string): boolean {
  return pattern.includes('[') && BRACKET_READINGS.some((reading) => endsInBracket(pattern, reading));
}

function endsInBracket(pattern: string, { hasEscapes, takesFirst, classes }: BracketReading): boolean {
  let depth = 0;
  /** Position after the opening bracket where a `]` is text; -1 if there is none. */
  let first = -1;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\' && (depth === 0 || hasEscapes)) at++;
    else if (character === '[' && depth === 0) {
      depth = 1;
      const isFirstText = takesFirst === 'always' || (takesFirst === 'at the start' && at === 0);
      if (pattern[at + 1] === '^') at++;
      first = isFirstText ? at + 1 : -1;
    } else if (character === '[' && /[:.=]/.test(pattern[at + 1] ?? '')) {
      const end = pattern.indexOf(`${pattern[at + 1] ?? ''}]`, at + 2);
      if (classes === 'counted') depth++;
      else if (classes === 'skipped' && end >= 0) at = end + 1;
    } else if (character === ']' && depth > 0 && at !== first) depth--;
  }
  return depth > 0;
}
