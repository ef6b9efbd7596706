/**
 * A buffer that overflows to disk: bytes are held in memory at first, then written to a private file.
 */
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/** State of the bytes at the end. */
export interface SpoolEnd {
  /** Path of the file with all bytes; absent if they stayed in memory or the disk failed. */
  readonly path?: string;
  /** errno code of a disk failure: `ENOSPC`. */
  readonly failureCode?: string;
}

/** Receives the bytes. */
export interface SpoolFile {
  /** Add bytes. If it returns a promise, the disk is behind: wait for it. Never rejects. */
  write(chunk: Buffer): void | Promise<void>;
  /** Finish, and keep or remove the file, if there is one. Never rejects. */
  finish(keep: boolean): Promise<SpoolEnd>;
}

/** Bytes that wait for the disk before the writer is paused. */
const MAX_WAITING_BYTES = 256 * 1_024;

/** Memory of a chunk beside its bytes, so that many tiny chunks count for what they take. */
const CHUNK_OVERHEAD_BYTES = 128;

/**
 * Create a spool.
 *
 * @param path Absolute path in a folder of our own: created as 0600 in 0700, and never an existing file.
 * @param memoryBytes Bytes held in memory before the file is created; 0 creates it with the first.
 */
export function createSpoolFile(path: string, memoryBytes: number): SpoolFile {
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
      // A partial file is useless and occupies the space that is missing.
      await discard();
    }
    writing = undefined;
  }

  async function discard(): Promise<void> {
    const abandoned = file;
    file = undefined;
    if (abandoned === undefined) return;
    await abandoned.close().catch(ignoreFailure);
    await unlink(path).catch(ignoreFailure);
  }

  return {
    write(chunk) {
      if (failureCode !== undefined) return;
      waiting.push(chunk);
      waitingBytes += chunk.length;
      heldBytes += chunk.length + CHUNK_OVERHEAD_BYTES;
      if (file === undefined && heldBytes <= memoryBytes) return;
      writing ??= pump();
      if (waitingBytes > MAX_WAITING_BYTES) return writing;
    },
    async finish(keep) {
      await writing;
      if (!keep) await discard();
      if (failureCode !== undefined) return { failureCode };
      if (file === undefined) return {};
      await file.close().catch(ignoreFailure);
      return { path };
    },
  };
}

async function createPrivateFile(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return open(path, 'wx', 0o600);
}

/** `writev` may write only a part, for example on a disk that is nearly full. */
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

function ignoreFailure(): void {
  // The file is abandoned or complete; a failure to close or remove it does not affect the caller.
}
