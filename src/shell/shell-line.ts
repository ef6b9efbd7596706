/** One command line, with lazily computed judgements. Pure; never throws. */
import type { PathUse } from '../tool/located-path.ts';
import { analyse } from './analysis.ts';
import { createBudget } from './budget.ts';
import { programName } from './judge-command.ts';
import { runsPrograms } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import { type Reach, type ReachedCommand, type ReachedScript, reachOf } from './reach.ts';
import type { ShellAnalysis } from './shell-analysis.ts';
import type { ShellPart, ShellVerdict } from './verdict.ts';

export type { ShellPart, ShellVerdict } from './verdict.ts';

/** A command line. Each property is computed on first access, and all of them share one budget. */
export class ShellLine {
  /** Text as passed to `bash -c`. */
  readonly command: string;
  readonly #budget = createBudget();
  #analysis: ShellAnalysis | undefined;
  #reach: Reach | undefined;
  #verdict: ShellVerdict | undefined;

  constructor(command: string) {
    this.command = command;
  }

  /** Result of the syntax analysis. */
  get analysis(): ShellAnalysis {
    return (this.#analysis ??= analyse(this.command, this.#budget));
  }

  /** Everything that it may run. */
  get reach(): Reach {
    return (this.#reach ??= reachOf(this.command, this.analysis, this.#budget));
  }

  /** Read-only verdict, paths and warnings. */
  get verdict(): ShellVerdict {
    return (this.#verdict ??= toVerdict(this));
  }
}

/** List the paths of scripts among the words of a launcher: `bash -c 'cat .env'`. */
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

/** List the dangers of a command line, one sentence each, for the person who is asked. */
function commandWarnings(command: string, { commands }: ReachedScript): readonly string[] {
  const found = new Set<string>();
  for (const { texts } of commands.flatMap(({ readings }) => readings)) {
    for (const text of texts) for (const sentence of warningsOf(text)) found.add(sentence);
  }
  if (runsDownload(commands)) found.add('Runs what it downloads');
  if (/>\s*\/dev\/(?:sd|nvme|hd|vd|disk|mmcblk)/.test(command)) found.add('Overwrites a disk');
  if (/:\s*\(\)\s*\{.*:\s*\|\s*:/.test(command)) found.add('Starts processes without end');
  return [...found];
}

/** @param text One command that may run, its words joined by blanks. */
function warningsOf(text: string): readonly string[] {
  const [program = '', rest = ''] = text.split(/ (.*)/s);
  const { warnings = [] } = recordOf(program) ?? {};
  return warnings.flatMap(({ words, sentence }) => (words.test(rest) ? [sentence] : []));
}

/** Report whether one command downloads and another runs text: `curl x | sudo ash`, `wget x -O y; python3.11 y`. */
function runsDownload(commands: readonly ReachedCommand[]): boolean {
  const programs = commands.map(({ readings }) =>
    readings.flatMap(({ launched }) => launched.commands.map(([program = '']) => program)),
  );
  const download = programs.findIndex((names) => names.some((name) => recordOf(name)?.isDownloader === true));
  const isRunning = (name: string) =>
    runsPrograms(name) || recordOf(name)?.isRaisingRights === true || /^(?:eval|source|\.)$/.test(name);
  return download >= 0 && programs.some((names, at) => at !== download && names.some(isRunning));
}
