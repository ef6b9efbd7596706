/**
 * Files of the server's own, beside those of its users: for its user alone.
 */
import { atomicWrite } from './atomic-write.ts';

/**
 * Write a file, 0600 in folders of 0700, whole or not at all.
 *
 * It survives the death of the process, as the log does by default; a power failure may take it.
 *
 * @param real Real path.
 * @param spelled For messages.
 * @throws {GauntletError} As `atomicWrite`.
 */
export async function privateWrite(real: string, content: string | Uint8Array, spelled = real): Promise<void> {
  const modes = { newFileMode: 0o600, newFolderMode: 0o700 };
  await atomicWrite({ real, spelled, content, expected: 'any', ...modes, isDurable: false });
}
