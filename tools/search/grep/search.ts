/** A search that is set up and not yet run. */
import type { Limits } from '../../../config/limits.ts';
import type { IsHidden } from '../hidden-paths.ts';
import type { RipgrepEnd } from './ripgrep.ts';
import type { GrepArguments } from './schema.ts';

/** What a run prints; answers false when enough was read. */
export type TakeOutput = (chunk: Buffer) => boolean;

/** One search. Names are as ripgrep prints them: relative to the working directory, or absolute. */
export interface Search {
  readonly input: GrepArguments;
  readonly limits: Limits;
  readonly cwd: string;
  readonly isHidden: IsHidden;
  /** Lines or entries to show; Infinity for all. */
  readonly limit: number;
  readonly offset: number;
  /** Let ripgrep walk. */
  run(onOutput: TakeOutput): Promise<RipgrepEnd>;
  /** Which of these files may not be those that a run since the beginning has opened by their names. */
  inDoubt(names: readonly string[]): readonly string[];
  /** Let ripgrep search what stands at these names now, and nowhere else; it calls the files by its descriptors. */
  runOver(names: readonly string[], onOutput: TakeOutput): Promise<RipgrepEnd>;
}

/** Output of Grep. */
export interface GrepOutput {
  readonly mode: 'content' | 'files_with_matches' | 'count';
  /** Lines or entries, one a line; empty when there are none. */
  readonly text: string;
  /** Lines or entries shown. */
  readonly count: number;
  /** Entries altogether, where all were seen. */
  readonly total?: number;
  /** What the reader must know beside: that there is more, that files could not be read. */
  readonly notices: readonly string[];
  readonly isPartial: boolean;
}
