/** What a command changes in files, as far as it can be seen. */
import type { ToolUseContext } from '../../../src/tool/tool.ts';
import { watchFiles } from '../../../src/files/watch-files.ts';
import type { ShellVerdict } from '../../../src/shell/verdict.ts';
import type { ShellToolServices } from '../services.ts';

/**
 * Look at the files a command may change: those it names, as the gate saw them, and those its session has read.
 *
 * @returns Looks again, once the command has ended, and reports what changed; undefined for what only reads, which
 *   costs nothing.
 */
export async function watchCommand(
  { history, limits }: ShellToolServices,
  { isReadOnly, paths }: ShellVerdict,
  { sessionId, principal, session, located = [], changes }: ToolUseContext,
): Promise<(() => Promise<void>) | undefined> {
  if (isReadOnly) return undefined;
  const named = paths.flatMap(({ access }, index) => {
    const place = located[index];
    return place === undefined || place.refusal !== undefined || place.isSessionFile
      ? []
      : [{ access, real: place.real }];
  });
  const changesNow = await watchFiles(history, {
    sessionId,
    written: named.flatMap(({ access, real }) => (access === 'write' ? [real] : [])),
    mentioned: named.flatMap(({ access, real }) => (access === 'read' ? [real] : [])),
    known: session.readState.recent(limits.watchedFiles),
    mostFiles: limits.watchedFiles,
    hashBytes: limits.editFileBytes,
  });
  return async () => {
    const changed = await changesNow();
    if (changed.length === 0) return;
    changes.report(changed);
    for (const { path } of changed) history.writers.note(path, { sessionId, principal, toolName: 'Bash' });
  };
}
