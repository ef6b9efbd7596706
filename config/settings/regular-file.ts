/**
 * Small files an operator names, read whole: never a device, a pipe or more than fits.
 */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { SETTINGS_FILE_BYTES } from '../limits.ts';
import { SettingsError } from '../settings-error.ts';

/**
 * Read a small regular file as UTF-8, without its byte order mark.
 *
 * @returns undefined when there is none.
 * @throws {SettingsError} If it is a device, pipe, folder, too large, unreadable or not UTF-8.
 */
export function readRegularFile(key: string, path: string): string | undefined {
  try {
    return readBounded(key, path);
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SettingsError(key, `${key}: cannot read "${path}": ${(error as Error).message}`, { cause: error });
  }
}

function readBounded(key: string, path: string): string {
  // Looked at before it is opened, since opening some devices already acts; and again after, since it may have changed.
  if (!statSync(path).isFile()) throw notRegular(key, path);
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) throw notRegular(key, path);
    const bytes = Buffer.alloc(SETTINGS_FILE_BYTES + 1);
    let length = 0;
    for (let got = -1; got !== 0 && length < bytes.length; length += got) {
      got = readSync(descriptor, bytes, length, bytes.length - length, null);
    }
    if (length > SETTINGS_FILE_BYTES) {
      throw new SettingsError(
        key,
        `${key}: "${path}" is larger than ${SETTINGS_FILE_BYTES} bytes; name a smaller file`,
      );
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
  } finally {
    closeSync(descriptor);
  }
}

function notRegular(key: string, path: string): SettingsError {
  return new SettingsError(key, `${key}: "${path}" is not a regular file; name a settings file`);
}
