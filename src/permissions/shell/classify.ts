/** Whether a command line only reads: the test behind Bash's `isReadOnly`. */
import { LRUCache } from 'lru-cache';
import type { PathUse } from '../../contract/located-path.ts';
import { analyse } from './analysis.ts';
import type { ShellAnalysis } from './script-walk.ts';
import { programName } from './judge-command.ts';
import { launchedCommands } from './launchers.ts';
import type { ShellPart, ShellVerdict } from './verdict.ts';
import { commandWarnings } from './warnings.ts';

export type { ShellPart, ShellVerdict } from './verdict.ts';

interface Judged {
  readonly analysis: ShellAnalysis;
  readonly verdict: ShellVerdict;
}

/** A call asks several times about one command, and seldom later; what is kept longer costs each collection of garbage. */
const remembered = new LRUCache<string, Judged>({ max: 32 });

/**
 * Judge a command line. Pure; never throws.
 *
 * @param command As `bash -c` would get it.
 */
export function classifyCommand(command: string): ShellVerdict {
  return judged(command).verdict;
}

/** The analysis behind a verdict, for the matcher. */
export function analysisOf(command: string): ShellAnalysis {
  return judged(command).analysis;
}

function judged(command: string): Judged {
  const known = remembered.get(command);
  if (known) return known;
  const analysis = analyse(command);
  const fresh = { analysis, verdict: toVerdict(command, analysis) };
  remembered.set(command, fresh);
  return fresh;
}

/** Scripts within scripts whose paths are followed. */
const MOST_NESTING = 3;

/** The paths that scripts name which stand in the words of a launcher: `bash -c 'cat .env'`. */
function launchedPaths({ commands }: ShellAnalysis, depth: number): readonly PathUse[] {
  return commands.flatMap(({ words, problem }) => {
    if (problem === undefined) return [];
    const { scripts, isLauncher } = launchedCommands(words.map((word) => word.literal ?? word.text));
    if (!isLauncher) return [];
    const analyses = scripts.map(analysisOf);
    return analyses.flatMap((inner) => [...inner.paths, ...(depth > 0 ? launchedPaths(inner, depth - 1) : [])]);
  });
}

function toVerdict(command: string, analysis: ShellAnalysis): ShellVerdict {
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
  return {
    isReadOnly,
    reason: isReadOnly ? '' : (problem ?? 'the command cannot be understood'),
    parts,
    paths: isReadOnly ? analysis.paths : [...analysis.paths, ...launchedPaths(analysis, MOST_NESTING)],
    warnings: isReadOnly ? [] : commandWarnings(command, parts),
    isUnparsable: analysis.isUnparsable,
    changesDirectory: analysis.changesDirectory,
  };
}
