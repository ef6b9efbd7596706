/** Whether a command line only reads: the test behind Bash's `isReadOnly`. */
import { LRUCache } from 'lru-cache';
import type { PathUse } from '../../contract/located-path.ts';
import { analyse } from './analysis.ts';
import { createBudget } from './budget.ts';
import { programName } from './judge-command.ts';
import { type Reach, type ReachedScript, reachOf } from './reach.ts';
import type { ShellAnalysis } from './shell-analysis.ts';
import type { ShellPart, ShellVerdict } from './verdict.ts';
import { commandWarnings } from './warnings.ts';

export type { ShellPart, ShellVerdict } from './verdict.ts';

/** One command line, understood as far as it was asked about. All of it draws from one budget. */
class JudgedLine {
  readonly analysis: ShellAnalysis;
  readonly #command: string;
  readonly #budget = createBudget();
  #reach: Reach | undefined;
  #verdict: ShellVerdict | undefined;

  constructor(command: string) {
    this.#command = command;
    this.analysis = analyse(command, this.#budget);
  }

  get reach(): Reach {
    return (this.#reach ??= reachOf(this.#command, this.analysis, this.#budget));
  }

  get verdict(): ShellVerdict {
    return (this.#verdict ??= toVerdict(this.#command, this));
  }
}

/** A call asks several times about one command, and seldom later; what is kept longer costs each collection of garbage. */
const remembered = new LRUCache<string, JudgedLine>({ max: 32 });

/**
 * Judge a command line. Pure; never throws.
 *
 * @param command As `bash -c` would get it.
 */
export function classifyCommand(command: string): ShellVerdict {
  return judged(command).verdict;
}

/** The analysis behind a verdict. */
export function analysisOf(command: string): ShellAnalysis {
  return judged(command).analysis;
}

/** The analysis behind a verdict, and all that the line may run, for the matcher. */
export function judgedLine(command: string): Pick<JudgedLine, 'analysis' | 'reach'> {
  return judged(command);
}

function judged(command: string): JudgedLine {
  let line = remembered.get(command);
  if (!line) remembered.set(command, (line = new JudgedLine(command)));
  return line;
}

/** The paths that scripts name which stand in the words of a launcher: `bash -c 'cat .env'`. */
function launchedPaths({ commands }: ReachedScript): readonly PathUse[] {
  return commands.flatMap(({ part, readings }) =>
    part.problem === undefined
      ? []
      : readings.flatMap(({ launched, nested }) =>
          launched.isLauncher ? nested.flatMap((inner) => [...inner.analysis.paths, ...launchedPaths(inner)]) : [],
        ),
  );
}

function toVerdict(command: string, line: JudgedLine): ShellVerdict {
  const { analysis } = line;
  const parts = analysis.commands.map(({ text, words, problem }): ShellPart => {
    const program = programName(words[0]) ?? words[0]?.literal;
    return {
      text,
      ...(program !== undefined && { program }),
      words: words.map((word) => word.literal ?? word.text),
      isReadOnly: problem === undefined,
    };
  });
  const problem = analysis.problems[0] ?? analysis.commands.find((part) => part.problem !== undefined)?.problem;
  const isReadOnly = problem === undefined && !analysis.isUnparsable;
  const reach = isReadOnly ? undefined : line.reach;
  return {
    isReadOnly,
    reason: isReadOnly ? '' : (problem ?? 'the command cannot be understood'),
    parts,
    paths: reach ? [...analysis.paths, ...launchedPaths(reach.plain)] : analysis.paths,
    warnings: reach ? commandWarnings(command, parts, reach.plain) : [],
    isUnparsable: analysis.isUnparsable || reach?.isIncomplete() === true,
    changesDirectory: analysis.changesDirectory,
  };
}
