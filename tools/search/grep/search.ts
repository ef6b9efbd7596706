/** Types of a prepared search and of its output. */
import type { IsHidden } from '../hidden-paths.ts';
import type { RipgrepEnd } from './ripgrep.ts';
import type { GrepArguments } from './schema.ts';

/** Receives the output of a run; returns false if enough was read. */
export type TakeOutput = (chunk: Buffer) => boolean;

/** Bounds of one search. */
export const GREP_BOUNDS = {
  /** Time that all runs of ripgrep for it have together. */
  timeMs: 60_000,
  /** Lines or entries shown when nothing else is asked. */
  results: 250,
  /** Output of ripgrep; a search that prints more is ended. */
  bytes: 32 * 1_024 * 1_024,
  /** Size of ripgrep's standard error. */
  errorBytes: 64 * 1_024,
  /** A longer matching line is cut. */
  lineBytes: 500,
  /** Up to this many matching files are sorted by age, which looks at each. */
  sortedFiles: 1_000,
  /** Files handed over open at once, where their names were changed during the search. */
  openFiles: 200,
  /**
   * The kernel dates changes by its last tick, 10 ms at most after the one before; on a busy virtual machine it may come
   * late. What changed so shortly before a search is taken for changed during it.
   */
  kernelClockLagMs: 100,
  /** A file server dates changes by its own clock, which may be late by as much. */
  serverClockLagMs: 10_000,
} as const satisfies Record<string, number>;

/** The bounds of a search. */
export type GrepBounds = Readonly<Record<keyof typeof GREP_BOUNDS, number>>;

/** One search. Names are as ripgrep prints them: relative to the working directory, or absolute. */
export interface Search {
  readonly input: GrepArguments;
  readonly bounds: GrepBounds;
  readonly cwd: string;
  readonly isHidden: IsHidden;
  /** Maximum number of lines or entries; Infinity for all. */
  readonly limit: number;
  readonly offset: number;
  /** Search recursively. */
  run(onOutput: TakeOutput): Promise<RipgrepEnd>;
  /** List the files whose names may have led elsewhere since the search began. */
  possiblyMoved(names: readonly string[]): readonly string[];
  /** Search the files that these names lead to now, and no others; ripgrep prints the names of its descriptors. */
  runOnFiles(names: readonly string[], onOutput: TakeOutput): Promise<RipgrepEnd>;
}

/** Output of Grep. */
export interface GrepOutput {
  readonly mode: 'content' | 'files_with_matches' | 'count';
  /** Lines or entries, separated by line ends; empty if there are none. */
  readonly text: string;
  /** Number of lines or entries shown. */
  readonly count: number;
  /** Total number of entries, if known. */
  readonly total?: number;
  /** Further information for the reader: there is more, or files could not be read. */
  readonly notices: readonly string[];
  readonly isPartial: boolean;
}
