/** Reads a file once to record its state and store its bytes in the history. */
import type { NotKept } from '../wire/file-change.ts';
import { isGauntletError } from '../base/errors.ts';
import { fileState, type ObservedFile, sha256Of } from './file-state.ts';
import { statOf } from './file-stats.ts';
import type { FileHistory } from './history.ts';
import { withCheckedFile } from './open-checked.ts';

/**
 * State of a file, and the reason why its bytes are not stored; without a reason they are stored, or there are none.
 */
export interface KeptFile extends ObservedFile {
  readonly reason?: NotKept;
}

/** Store the bytes of a real path in the history. Unreadable files are not stored. @throws Errors of `lstat`. */
export async function keepFile(history: FileHistory, sessionId: string, real: string): Promise<KeptFile> {
  const stats = statOf(real);
  if (!stats) return {};
  const refusal = stats.isFile() ? await history.refusal(sessionId, stats.size) : 'not_foreseen';
  if (refusal !== undefined) return { stats, state: fileState(stats), reason: refusal };
  try {
    return await withCheckedFile(real, real, async (file) => {
      const content = await file.readWhole(file.stats.size);
      const sha256 = sha256Of(content);
      const reason = await history.keep(sessionId, content, sha256);
      return { stats: file.stats, state: fileState(file.stats, sha256), ...(reason && { reason }) };
    });
  } catch (error) {
    // Unreadable or just removed; the reason records that its content is not stored.
    if (isGauntletError(error)) return { stats, state: fileState(stats), reason: 'disk_error' };
    throw error;
  }
}
