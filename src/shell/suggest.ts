/** Suggests the rules that "always allow" adds for a command line. */
import { basename } from './spellings.ts';
import { isInterpreterName, isLauncherName } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import { shellMatcher } from './matcher.ts';
import type { ShellLine } from './shell-line.ts';
import type { ShellPart } from './verdict.ts';

/** Sub-commands whose operand names the script to run. */
const RUNS_A_SCRIPT = /^(?:run|run-script)$/;

/** Programs that may be shells without a record. */
const SHELL_LIKE = /^\w*sh$/;

/** Sub-commands that run the program their operands name: `docker run`, `npm exec`, `go run`. */
const RUNS_ANYTHING =
  /^(?:exec|execute|run|x|dlx|npx|shell|ssh|develop|api|config|filter-branch|bisect|submodule|difftool|mergetool|alias)$/;

/** Report whether this program may run the text of its words, or of files that they name. */
function runsItsWords(program: string): boolean {
  return isLauncherName(program) || isInterpreterName(program) || recordOf(program)?.runsBehind !== undefined;
}

/** Longest command that is suggested verbatim, in characters. */
const MAX_EXACT_CHARS = 200;

/**
 * Suggest prefix specs (`touch:*`, `npm run build:*`) that together cover the command. A part without a safe prefix is
 * suggested verbatim; the list is empty if even that covers nothing. Read-only commands have suggestions, too, since
 * their paths may be asked about.
 */
export function suggestShellSpecs(line: ShellLine): readonly string[] {
  const { verdict } = line;
  if (verdict.isUnparsable) return [];
  const specs = new Set<string>();
  for (const part of verdict.parts.filter(({ isReadOnly }) => verdict.isReadOnly || !isReadOnly)) {
    const spec = specFor(part);
    if (spec !== undefined) specs.add(spec);
    else if (!part.isReadOnly) return [];
  }
  const suggested = [...specs];
  return suggested.length > 0 && shellMatcher(line).covers(suggested) ? suggested : [];
}

function specFor(part: ShellPart): string | undefined {
  const program = basename(part.program ?? '');
  const prefix = program === part.program ? prefixFor(program, part.words) : undefined;
  if (prefix !== undefined) return `${prefix}:*`;
  const text = part.words.join(' ');
  // A bare interpreter would run any input; a `*` would be parsed as a wildcard.
  const isExact =
    part.words.length > 1 && text.length <= MAX_EXACT_CHARS && part.words.every((word) => /^[^\s*$`"'\\]+$/.test(word));
  return isExact && !text.endsWith(':') ? text : undefined;
}

function prefixFor(program: string, words: readonly string[]): string | undefined {
  const { suggests, isScriptRunner } = recordOf(program) ?? {};
  if (suggests === 'nothing' || SHELL_LIKE.test(program) || !/^[\w.+-]+$/.test(program)) return undefined;
  if (suggests !== 'subcommand') return runsItsWords(program) ? undefined : program;
  const [, subcommand, script] = words;
  if (subcommand === undefined || !/^[\w:.-]+$/.test(subcommand) || subcommand.startsWith('-')) return undefined;
  const runsScript = isScriptRunner === true && RUNS_A_SCRIPT.test(subcommand);
  if (runsScript)
    return script !== undefined && /^[\w:.-]+$/.test(script) && !script.startsWith('-')
      ? `${program} ${subcommand} ${script}`
      : undefined;
  return RUNS_ANYTHING.test(subcommand) ? undefined : `${program} ${subcommand}`;
}
