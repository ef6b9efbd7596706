/**
 * What a call does to a file, as the session's log keeps it and the wire shows it: enough to draw it, and to take it
 * back. The bytes themselves stand in the file history, by their digest.
 */

import * as z from 'zod';
import { Count, Texts } from './values.ts';
import type { Wire } from './wire-type.ts';

/** A regular file at one moment. */
export type FileState = Wire<typeof FileState>;
export const FileState = z.object({
  sha256: z
    .string()
    .optional()
    .describe(
      'Digest of all bytes in hex; absent where they were not read: the file is too large, or not a regular file',
    ),
  size_bytes: Count,
  mode: z.string().describe('Permission bits in octal, as `0644`'),
});

/** Kind of a change. */
export type ChangeKind = z.output<typeof ChangeKind>;
export const ChangeKind = z
  .enum(['created', 'modified', 'deleted', 'none'])
  .describe('`none`: the file was not changed, though a change was announced');

/** Reasons why a change cannot be undone. */
export type NotKept = z.output<typeof NotKept>;
export const NotKept = z
  .enum(['too_large', 'history_full', 'disk_full', 'disk_error', 'not_foreseen'])
  .describe(
    'Why the change cannot be undone: the bytes before it were not kept, or the call did not say that it writes the file (`not_foreseen`)',
  );

/** One file changed by one call. */
export type FileChange = Wire<typeof FileChange>;
export const FileChange = z.object({
  path: z.string().describe('Absolute real path'),
  kind: ChangeKind,
  before: FileState.optional().describe('Absent where there was no file'),
  after: FileState.optional().describe('Absent where there is no file now'),
  folders: Texts.optional().describe('Folders that were made for the file, the outermost first'),
  undoable: z.boolean().describe('Whether the change can be undone'),
  reason: NotKept.optional(),
});

/** Recorder of the changes that a call makes to files. */
export interface ChangeLog {
  /**
   * Before a file is touched.
   *
   * @returns Once it is on disk: a crash cannot leave a change behind that nobody knows of.
   * @throws {GauntletError} `log_unavailable`, `fenced`: the file must not be touched.
   */
  announce(change: FileChange): Promise<void>;
  /** After the fact, or to correct what was announced. Not lost if the disk refuses it at first. */
  report(changes: readonly FileChange[]): void;
}
