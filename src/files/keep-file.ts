/**
 * A file as it stands is read once: its state is known afterwards, and its bytes are kept where they may be.
 */
import type { NotKept } from '../wire/file-change.ts';
import { isGauntletError } from '../base/errors.ts';
import { fileState, type ObservedFile, sha256Of } from './file-state.ts';
import { statOf } from './file-stats.ts';
import type { FileHistory } from './history.ts';
import { withCheckedFile } from './open-checked.ts';

/** A file, and why its bytes are not kept; without a reason they are, or there are none. */
export interface KeptFile extends ObservedFile {
  readonly reason?: NotKept;
}

/**
 * Keep the bytes of what stands at a real path. What cannot be read is not kept.
 *
 * @throws What `lstat` throws, where nobody can say what stands there.
 */
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
    // It is not ours to read, or went away a moment ago: its past is not known, which says so.
    if (isGauntletError(error)) return { stats, state: fileState(stats), reason: 'disk_error' };
    throw error;
  }
}
