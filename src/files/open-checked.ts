/**
 * The only reader of files: it opens exactly the located file, or reads nothing.
 *
 * The last component is never followed, a pipe never blocks, only regular files are accepted, and nothing beyond the
 * size at open is read, so that a growing file cannot occupy a reader for ever.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { promisify } from 'node:util';
import { GauntletError } from '../base/errors.ts';
import { fileError } from './file-error.ts';

/** Up to this size a read from the page cache is faster than the thread pool. */
const SYNCHRONOUS_READ_BYTES = 256 * 1_024;

const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const readAsync = promisify(read);

/** An open regular file, as it was when it was opened. */
export interface CheckedFile {
  /** Stats of the descriptor; at most `size` bytes can be read. */
  readonly stats: Stats;
  /**
   * Fill `buffer` from `position`.
   *
   * @returns Number of bytes read; fewer than requested only at the end of the file as opened.
   */
  read(buffer: Uint8Array, position: number): Promise<number>;
  /** Read the whole file, or its first `capBytes`. */
  readWhole(capBytes: number): Promise<Buffer>;
}

/**
 * Open a located file, call `work` with it, and close it.
 *
 * @param real Real path from `LocatePath`.
 * @param spelled Path as the caller wrote it, for messages.
 * @throws {GauntletError} `tool_failed` (`details.reason`: `enoent`, `eisdir`, `moved`, …), `resource_exhausted`.
 */
export async function withCheckedFile<Result>(
  real: string,
  spelled: string,
  work: (file: CheckedFile) => Promise<Result>,
): Promise<Result> {
  const { descriptor, stats } = openRegular(real, spelled);
  try {
    return await work(reader(descriptor, stats, spelled));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Read a small located file completely.
 *
 * @throws {GauntletError} As `withCheckedFile`; `details.reason` `efbig` for more than `maxBytes`.
 */
export function readSmallFile(real: string, spelled: string, maxBytes: number): Buffer {
  const { descriptor, stats } = openRegular(real, spelled);
  const { size } = stats;
  try {
    if (size > maxBytes) throw refuse(spelled, `it is larger than ${maxBytes} bytes`, 'efbig');
    const whole = Buffer.alloc(size);
    return whole.subarray(0, readSync(descriptor, whole, 0, size, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** Report whether a descriptor refers to the file or folder that is at `real` now. */
export function isOpenOn(descriptor: number, real: string): boolean {
  if (process.platform === 'linux') return readlinkSync(`/proc/self/fd/${descriptor}`) === real;
  const opened = fstatSync(descriptor);
  const named = lstatSync(real);
  return opened.ino === named.ino && opened.dev === named.dev && realpathSync.native(real) === real;
}

/** Open a located file; the caller closes it. @throws {GauntletError} As `withCheckedFile`; then nothing stays open. */
export function openRegular(real: string, spelled: string): { readonly descriptor: number; readonly stats: Stats } {
  const descriptor = openOrThrow(real, spelled);
  try {
    return { descriptor, stats: check(descriptor, real, spelled) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function openOrThrow(real: string, spelled: string): number {
  try {
    return openSync(real, OPEN_FLAGS);
  } catch (error) {
    throw fileError('Cannot read', spelled, error);
  }
}

function check(descriptor: number, real: string, spelled: string): Stats {
  const stats = fstatSync(descriptor);
  if (stats.isDirectory()) throw refuse(spelled, 'it is a folder', 'eisdir');
  if (!stats.isFile()) throw refuse(spelled, 'it is not a regular file', 'irregular');
  if (!isOpenOn(descriptor, real))
    throw refuse(spelled, 'it was moved or replaced after it was checked. Try again', 'moved');
  return stats;
}

function reader(descriptor: number, stats: Stats, spelled: string): CheckedFile {
  async function readAt(buffer: Uint8Array, position: number): Promise<number> {
    const length = Math.min(buffer.byteLength, stats.size - position);
    if (length <= 0) return 0;
    try {
      if (length <= SYNCHRONOUS_READ_BYTES) return readSync(descriptor, buffer, 0, length, position);
      return (await readAsync(descriptor, buffer, 0, length, position)).bytesRead;
    } catch (error) {
      throw fileError('Cannot read', spelled, error);
    }
  }

  return {
    stats,
    read: readAt,
    async readWhole(capBytes) {
      const whole = Buffer.allocUnsafe(Math.min(stats.size, capBytes));
      let filled = 0;
      while (filled < whole.length) {
        const bytes = await readAt(whole.subarray(filled), filled);
        if (bytes === 0) break;
        filled += bytes;
      }
      return whole.subarray(0, filled);
    },
  };
}

function refuse(spelled: string, why: string, reason: string): GauntletError {
  return new GauntletError('tool_failed', `Cannot read "${spelled}": ${why}`, { details: { reason } });
}
