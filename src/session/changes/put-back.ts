/**
 * One file becomes what it was: its bytes and permissions, or nothing, with nothing left beside it.
 */
import { dirname, join } from 'node:path';
import { GauntletError } from '../../base/errors.ts';
import type { ChangeFrame, UndoneFile } from '../../wire/frames.ts';
import { atomicWrite } from '../../files/atomic-write.ts';
import { isSameState, modeBits } from '../../files/file-state.ts';
import { statOf } from '../../files/file-stats.ts';
import type { FileHistory } from '../../files/history.ts';
import { keepFile } from '../../files/keep-file.ts';
import { temporaryNameOf } from '../../files/recorded-write.ts';
import { removeFile } from '../../files/remove-checked.ts';
import type { FilePlan } from './plan-undo.ts';

/**
 * Put one file back. What is there now is kept as well, where there is room: an undo destroys nothing.
 *
 * @throws {GauntletError} `tool_failed` if it changed since it was looked at, or the disk refuses.
 */
export async function putBack(history: FileHistory, sessionId: string, file: FilePlan): Promise<UndoneFile> {
  const { path, found, target, changes } = file;
  const done = { path, changes, ...(target && { state: target }) };
  if (isSameState(found.state, target)) return { ...done, kind: 'none' };
  if (found.stats) await keepFile(history, sessionId, path);
  if (!target) {
    if (found.stats) removeFile(path, found.stats);
    return { ...done, kind: 'deleted' };
  }
  const content = target.sha256 === undefined ? undefined : await history.read(sessionId, target.sha256);
  if (!content) throw new GauntletError('tool_failed', `Cannot restore "${path}": what was kept of it is gone`);
  const expected = found.stats ?? 'absent';
  await atomicWrite({ real: path, spelled: path, content, expected, mode: modeBits(target) });
  return { ...done, kind: found.stats ? 'modified' : 'created' };
}

/** A server that dies in the middle of a write leaves what it had written so far, under another name. */
export function removeLeftover(sessionId: string, { path, tool_use_id: toolUseId }: ChangeFrame): void {
  const leftover = join(dirname(path), temporaryNameOf(sessionId, toolUseId, path));
  const stats = statOf(leftover);
  if (stats?.isFile()) removeFile(leftover, stats);
}
