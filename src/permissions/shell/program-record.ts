/**
 * All that is known of one program, in one literal: how it is judged, what it runs, writes and prints.
 *
 * Whoever needs to know something of a program asks its record (`programs/index.ts`); there is no other list of programs.
 */
import type { ProgramSpec } from './program-spec.ts';

/** The record of one program, or of several that are alike in all of it. A program without `reads` never passes unasked. */
export interface ProgramRecord {
  /** Its names, separated by blanks. */
  readonly names: string;
  /** Other names of the same program. */
  readonly aliases?: string;
  /** The shell itself does it, in its own process. */
  readonly isBuiltin?: true;
  /** The words with which it only reads. */
  readonly reads?: ProgramSpec;
  /**
   * An allow rule for it covers every use of it, because people call it to act (`tar`, `mount`), or because beyond
   * reading it can only use the network or print more (`ss`, `lsof`).
   */
  readonly isCoveredWhole?: true;
}
