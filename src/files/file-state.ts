/** States of files before and after a change, to detect later changes by others. */
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import type { FileState } from '../wire/file-change.ts';
import { PERMISSION_BITS, statOf } from './file-stats.ts';
import { withCheckedFile } from './open-checked.ts';

/** A file that a tool changes is held whole, before and after; a larger one is not edited. */
export const MAX_EDITED_BYTES = 32 * 1_024 * 1_024;

/** State of a path; both members are absent if nothing exists there. */
export interface ObservedFile {
  readonly stats?: Stats;
  /** Has no digest if the bytes were not read, or if it is not a regular file; such a state equals no other. */
  readonly state?: FileState;
}

/** Size of a read through the thread pool, so that a large file never blocks the event loop. */
const CHUNK_BYTES = 1_024 * 1_024;

/** Return the hex digest of bytes. */
export function sha256Of(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Create the state of a file. @param sha256 Hex digest, if the bytes are known. */
export function fileState({ size, mode }: Pick<Stats, 'size' | 'mode'>, sha256?: string): FileState {
  const octal = (mode & PERMISSION_BITS).toString(8).padStart(4, '0');
  return { ...(sha256 === undefined ? {} : { sha256 }), size_bytes: size, mode: octal };
}

/** Return the permission bits of a state. */
export function modeBits({ mode }: FileState): number {
  return Number.parseInt(mode, 8);
}

/** Report whether two states are known to be equal: both absent, or the same bytes with the same permissions. */
export function isSameState(one: FileState | undefined, other: FileState | undefined): boolean {
  if (!one || !other) return one === other;
  return one.sha256 !== undefined && one.sha256 === other.sha256 && one.mode === other.mode;
}

/**
 * Observe a real path without following a link.
 *
 * @param mayHash Decides by size whether the bytes are read.
 * @throws {GauntletError} `tool_failed`, `resource_exhausted` if it exists but cannot be read.
 */
export async function observeFile(real: string, mayHash: (sizeBytes: number) => boolean): Promise<ObservedFile> {
  const stats = statOf(real);
  if (!stats) return {};
  if (!stats.isFile() || !mayHash(stats.size)) return { stats, state: fileState(stats) };
  return withCheckedFile(real, real, async (file) => {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, file.stats.size));
    for (let position = 0; position < file.stats.size;) {
      const bytes = await file.read(buffer, position);
      if (bytes === 0) break;
      hash.update(buffer.subarray(0, bytes));
      position += bytes;
    }
    return { stats: file.stats, state: fileState(file.stats, hash.digest('hex')) };
  });
}
