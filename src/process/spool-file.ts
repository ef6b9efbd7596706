/**
 * Bytes that may become too many to hold: kept in memory at first, then written to a private file.
 */
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What became of the bytes. */
export interface SpoolEnd {
  /** Where all bytes stand; absent when they never were too many, or the disk refused. */
  readonly path?: string;
  /** The errno code with which the disk refused: `ENOSPC`. */
  readonly failureCode?: string;
}

/** Takes bytes as they come. */
export interface SpoolFile {
  /** A returned promise means: the disk is behind, wait. Never rejects. */
  write(chunk: Buffer): void | Promise<void>;
  /** End, and keep the file if there is one; or remove it. Never rejects. */
  finish(keep: boolean): Promise<SpoolEnd>;
}

/** What a small chunk costs beside its bytes, so that many tiny ones count for what they take. */
const CHUNK_OVERHEAD_BYTES = 128;

/**
 * Make a spool.
 *
 * @param path Absolute, in a folder of our own: 0600 in 0700, and never a file that is there already.
 * @param bounds Bytes held before the file is begun, 0 to begin it with the first; and bytes that may wait for the
 *   disk before the writer is held back.
 */
export function createSpoolFile(
  path: string,
  { memoryBytes, mostWaitingBytes }: { readonly memoryBytes: number; readonly mostWaitingBytes: number },
): SpoolFile {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let heldBytes = 0;
  let file: FileHandle | undefined;
  let writing: Promise<void> | undefined;
  let failureCode: string | undefined;

  async function pump(): Promise<void> {
    try {
      file ??= await createPrivateFile(path);
      while (waiting.length > 0) {
        const chunks = waiting;
        waiting = [];
        waitingBytes = 0;
        await writeAll(file, chunks);
      }
    } catch (error) {
      failureCode = (error as NodeJS.ErrnoException).code ?? 'EIO';
      waiting = [];
      // Half a file helps nobody and holds the space that is missing.
      await discard();
    }
    writing = undefined;
  }

  async function discard(): Promise<void> {
    const begun = file;
    file = undefined;
    if (begun === undefined) return;
    await begun.close().catch(ignoreLost);
    await unlink(path).catch(ignoreLost);
  }

  return {
    write(chunk) {
      if (failureCode !== undefined) return;
      waiting.push(chunk);
      waitingBytes += chunk.length;
      heldBytes += chunk.length + CHUNK_OVERHEAD_BYTES;
      if (file === undefined && heldBytes <= memoryBytes) return;
      writing ??= pump();
      if (waitingBytes > mostWaitingBytes) return writing;
    },
    async finish(keep) {
      await writing;
      if (!keep) await discard();
      if (failureCode !== undefined) return { failureCode };
      if (file === undefined) return {};
      await file.close().catch(ignoreLost);
      return { path };
    },
  };
}

async function createPrivateFile(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return open(path, 'wx', 0o600);
}

/** `writev` may take less than all of it, on a disk that is nearly full for one. */
async function writeAll(file: FileHandle, chunks: readonly Buffer[]): Promise<void> {
  let rest = chunks;
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest);
    rest = after(rest, bytesWritten);
  }
}

function after(chunks: readonly Buffer[], bytes: number): readonly Buffer[] {
  let skip = bytes;
  const first = chunks.findIndex((chunk) => {
    if (skip < chunk.length) return true;
    skip -= chunk.length;
    return false;
  });
  if (first < 0) return [];
  return [(chunks[first] as Buffer).subarray(skip), ...chunks.slice(first + 1)];
}

function ignoreLost(): void {
  // The file is given up or complete either way; a failure to close or remove it changes nothing for the caller.
}
