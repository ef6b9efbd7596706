/** What Grep hands back. */

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
