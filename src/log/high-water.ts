/**
 * The high-water mark: the number of the last committed row, in a file beside the database.
 *
 * SQLite drops a damaged end of its write-ahead log without a word. The mark is how the next start
 * notices that acknowledged rows are gone.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const ROW_DIGITS = 16;
const CHECKSUM_DIGITS = 8;

/** The open file. */
export interface HighWaterMark {
  /** What the file said when it was opened: a row number, `undefined` when there was no file, `'damaged'` when it makes no sense. */
  readonly found: number | 'damaged' | undefined;
  /**
   * Set the mark, after the commit and before anybody is told of it. In place and of fixed length:
   * a full disk does not stop it. Not synced: the operating system keeps it when the process dies.
   *
   * @throws {Error} What the file system says.
   */
  raise(row: number): void;
  close(): void;
}

/** Open or create the mark at `path`. @throws {Error} What the file system says. */
export function openHighWaterMark(path: string): HighWaterMark {
  const found = readMark(path);
  const descriptor = openSync(path, found === undefined ? 'w+' : 'r+', 0o600);
  return {
    found,
    raise: (row) => void writeSync(descriptor, markText(row), 0),
    close: () => closeSync(descriptor),
  };
}

function readMark(path: string): HighWaterMark['found'] {
  let text: string;
  try {
    text = readFileSync(path, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const row = Number(text.slice(0, ROW_DIGITS));
  return Number.isSafeInteger(row) && text === markText(row) ? row : 'damaged';
}

function markText(row: number): string {
  const digits = String(row).padStart(ROW_DIGITS, '0');
  return `${digits} ${crc32(digits).toString(16).padStart(CHECKSUM_DIGITS, '0')}\n`;
}
