/** One command line, understood as far as it is asked about. Pure; never throws. */
import type { PathUse } from '../../contract/located-path.ts';
import { analyse } from './analysis.ts';
import { createBudget } from './budget.ts';
import { programName } from './judge-command.ts';
import { type Reach, type ReachedScript, reachOf } from './reach.ts';
import type { ShellAnalysis } from './shell-analysis.ts';
import type { ShellPart, ShellVerdict } from './verdict.ts';
import { commandWarnings } from './warnings.ts';

export type { ShellPart, ShellVerdict } from './verdict.ts';

/** What is found out about it is found when it is first asked for, and all of it draws from one budget. */
export class ShellLine {
  /** As `bash -c` would get it. */
  readonly command: string;
  readonly #budget = createBudget();
  #analysis: ShellAnalysis | undefined;
  #reach: Reach | undefined;
  #verdict: ShellVerdict | undefined;

  constructor(command: string) {
    this.command = command;
  }

  /** What its syntax tells. */
  get analysis(): ShellAnalysis {
    return (this.#analysis ??= analyse(this.command, this.#budget));
  }

  /** All that it may run. */
  get reach(): Reach {
    return (this.#reach ??= reachOf(this.command, this.analysis, this.#budget));
  }

  /** Whether it only reads, and what it names. */
  get verdict(): ShellVerdict {
    return (this.#verdict ??= toVerdict(this));
  }
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

function toVerdict(line: ShellLine): ShellVerdict {
  const { analysis, command } = line;
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
    warnings: reach ? commandWarnings(command, reach.plain) : [],
    isUnparsable: analysis.isUnparsable || reach?.isIncomplete() === true,
    changesDirectory: analysis.changesDirectory,
  };
}
