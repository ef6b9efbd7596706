/** Writes the server's own files, readable only by its user. */
import { atomicWrite } from './atomic-write.ts';

/**
 * Write a file, 0600 in folders of 0700, completely or not at all.
 *
 * It survives the death of the process, but perhaps not a power failure, as the log does by default.
 *
 * @param real Real path.
 * @param spelled Path for messages.
 * @throws {GauntletError} As `atomicWrite`.
 */
export async function privateWrite(real: string, content: string | Uint8Array, spelled = real): Promise<void> {
  const modes = { newFileMode: 0o600, newFolderMode: 0o700 };
  await atomicWrite({ real, spelled, content, expected: 'any', ...modes, isDurable: false });
}
