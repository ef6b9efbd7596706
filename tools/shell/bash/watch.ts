/** What a command changes in files, as far as it can be seen. */
import type { FileChange } from '../../../src/contract/file-change.ts';
import type { ToolUseContext } from '../../../src/contract/tool.ts';
import { watchFiles } from '../../../src/files/watch-files.ts';
import { classifyCommand } from '../../../src/permissions/shell/classify.ts';
import type { ShellToolServices } from '../services.ts';

const NOTHING: () => Promise<readonly FileChange[]> = () => Promise.resolve([]);

/**
 * Look at the files a command may change: those the gate saw it write, and those its session has read.
 *
 * @returns Says what changed, once the command has ended. What only reads costs nothing.
 */
export function watchCommand(
  { history, limits }: ShellToolServices,
  command: string,
  { sessionId, session, located = [] }: ToolUseContext,
): Promise<() => Promise<readonly FileChange[]>> | typeof NOTHING {
  const { isReadOnly, paths } = classifyCommand(command);
  if (isReadOnly) return NOTHING;
  const written = paths.flatMap(({ access }, index) => {
    const place = located[index];
    const isTheirs = access === 'write' && place !== undefined && place.refusal === undefined && !place.isSessionFile;
    return isTheirs ? [place.real] : [];
  });
  return watchFiles(history, {
    sessionId,
    written,
    known: session.readState.recent(limits.watchedFiles),
    mostFiles: limits.watchedFiles,
    hashBytes: limits.editFileBytes,
  });
}
