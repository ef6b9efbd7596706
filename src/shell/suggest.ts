/** What "always allow" would add for a command line. */
import { basename } from './spellings.ts';
import { isInterpreterName, isLauncherName } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import { shellMatcher } from './matcher.ts';
import type { ShellLine } from './shell-line.ts';
import type { ShellPart } from './verdict.ts';

/** Sub-commands whose own operand says what is run. */
const RUNS_A_SCRIPT = /^(?:run|run-script)$/;

/** A program of such a name may be a shell that nobody knows. */
const SHELL_LIKE = /^\w*sh$/;

/** Sub-commands that run what their operands name: `docker run`, `npm exec`, `go run`. */
const RUNS_ANYTHING =
  /^(?:exec|execute|run|x|dlx|npx|shell|ssh|develop|api|config|filter-branch|bisect|submodule|difftool|mergetool|alias)$/;

/** Tell whether this program may run what its words, or the files that they name, say. */
function runsItsWords(program: string): boolean {
  return isLauncherName(program) || isInterpreterName(program) || recordOf(program)?.runsBehind !== undefined;
}

/** Longest command that is suggested word for word. */
const MAX_EXACT_CHARS = 200;

/**
 * Prefix specs (`touch:*`, `npm run build:*`) that together cover the command; where no prefix is safe, the
 * part word for word; empty where even that covers nothing. A command that only reads has them too: it may
 * be asked about for where it reads.
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
  // A bare interpreter would run whatever comes in; a `*` would be read as a wildcard.
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
