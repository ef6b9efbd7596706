/**
 * Shells and interpreters: programs that run text from a file, from their words or from their input.
 *
 * The one list of them: what is looked into, what is opaque, what is warned of and what is never suggested are derived
 * from it.
 */
import { namesOf } from './spellings.ts';

/** Shells of every kind. */
export const SHELL_NAMES: readonly string[] =
  'sh bash rbash dash ash zsh ksh mksh lksh pdksh fish csh tcsh yash osh xonsh pwsh powershell nu elvish'.split(' ');

const SHELLS: ReadonlySet<string> = new Set(SHELL_NAMES);

/** Options of languages before text that is part of the command, or before the name of a module. */
const INLINE: Readonly<Record<string, RegExp>> = {
  python: /^-\w*[cm]/,
  ipython: /^-\w*[cm]/,
  pypy: /^-\w*[cm]/,
  perl: /^-(?![MI])\w*[eE]$/,
  ruby: /^-(?![rI])\w*e$/,
  node: /^(?:-\w*[epc]|--(?:eval|print|check)(?:=.*)?)$/,
  nodejs: /^(?:-\w*[epc]|--(?:eval|print|check)(?:=.*)?)$/,
  php: /^-[rBRE]/,
  lua: /^-e/,
  osascript: /^-e/,
  expect: /^-c/,
  luajit: /^-e/,
  guile: /^-c/,
  racket: /^-\w*e/,
  sbcl: /^--eval/,
  swipl: /^-[gt]/,
  clojure: /^-(?:e|-eval)/,
  groovy: /^-e/,
  scala: /^-e/,
  elixir: /^(?:-e|--eval)/,
  iex: /^(?:-e|--eval)/,
  erl: /^-eval/,
  julia: /^(?:-[eE]|--eval|--print)/,
  octave: /^--eval/,
  R: /^-e/,
  Rscript: /^-e/,
  ocaml: /^-e/,
  gnuplot: /^-e/,
  mongosh: /^--eval/,
  mongo: /^--eval/,
  bpftrace: /^-e/,
  stap: /^-e/,
  dtrace: /^-\w*n/,
  dc: /^(?:-e|--expression)/,
  lftp: /^-[ce]/,
  m4: /^(?!)/,
  psql: /^(?:-c|--command)/,
  mysql: /^(?:-\w*e|--execute)/,
  mariadb: /^(?:-\w*e|--execute)/,
};

/** Languages whose words hold no text of a program, or hold it in other ways. */
const OTHER_LANGUAGES =
  'deno bun tclsh tcl wish sqlite3 duckdb ts-node tsnode tsx vite-node jiti java jshell kotlin clj escript runghc ghc ghci bb';

const LANGUAGES: ReadonlySet<string> = new Set([...Object.keys(INLINE), ...OTHER_LANGUAGES.split(' ')]);

/** Editors, builders and debuggers with a language of their own: their input is a text, and no program. */
const TEXT_TOOLS: ReadonlySet<string> = new Set('sed awk vim vi view ex ed nvim emacs gdb lldb make'.split(' '));

/** Whether this is a shell, whatever its version. */
export function isShellName(program: string): boolean {
  return SHELLS.has(program) || SHELLS.has(plainName(program));
}

/** Whether this program runs its input as a program, or a file that it is given. */
export function runsPrograms(program: string): boolean {
  return isShellName(program) || LANGUAGES.has(plainName(program));
}

/** Whether this program has a language of its own, in which a command is a word among others. */
export function isInterpreterName(program: string): boolean {
  const name = plainName(program);
  return LANGUAGES.has(name) || TEXT_TOOLS.has(name);
}

/** The options of a language before text that is part of the command. @param program Without its version. */
export function inlineOption(program: string): RegExp | undefined {
  return Object.hasOwn(INLINE, program) ? INLINE[program] : undefined;
}

function plainName(program: string): string {
  return namesOf([program]).at(-1)?.[0] ?? program;
}
