/** Tracks the working directory: the next command starts where this one ended, if that is inside the workspace. */
import { rm } from 'node:fs/promises';
import type { SessionContext } from '../../../src/tool/session-context.ts';
import { withCheckedFile } from '../../../src/files/open-checked.ts';
import { isInWorkingDirectories, realFolder } from '../../../src/files/working-directories.ts';

/** Longest path of the kernel, with its line end. */
const MAX_PATH_BYTES = 4_097;

/** Working directory of the next command, with a note if it is unexpected. */
export interface NextFolder {
  readonly cwd: string;
  readonly note?: string;
}

/** Return the folder to start in: the session's, or its home if that is missing or has become a link. */
export function startFolder(session: SessionContext): NextFolder {
  const { cwd } = session;
  if (cwd === session.root || realFolder(cwd) === cwd) return { cwd };
  const home = homeOf(session);
  return { cwd: home, note: `The working directory "${cwd}" is gone; the command ran in "${home}"` };
}

/** Return the folder that a session is reset to: its worktree while it is in one, else its root. */
function homeOf({ root, worktree }: SessionContext): string {
  return worktree !== undefined && realFolder(worktree.path) === worktree.path ? worktree.path : root;
}

/** Read the report and remove it. @returns undefined if the shell wrote none: it was killed, or replaced itself. */
export async function takeReport(cwdFile: string): Promise<string | undefined> {
  try {
    // The command can write this path, so it may be a pipe, a link, or an endless file.
    const report = await withCheckedFile(cwdFile, cwdFile, async (file) => {
      const buffer = Buffer.alloc(MAX_PATH_BYTES);
      return buffer.toString('utf8', 0, await file.read(buffer, 0));
    });
    await rm(cwdFile, { force: true });
    return report.endsWith('\n') ? report.slice(0, -1) : undefined;
  } catch {
    // Without a readable report the session stays in its folder.
    return undefined;
  }
}

/** Set the working directory of a session; its home if the folder was removed from the workspace meanwhile. */
export function movedTo(session: SessionContext, cwd: string): SessionContext {
  const next = isInWorkingDirectories(session, cwd) ? cwd : homeOf(session);
  return Object.freeze({ ...session, version: session.version + 1, cwd: next });
}

/** Check the folder in which a command ended. The report is untrusted, so its real path is resolved again. */
export function nextFolder(session: SessionContext, reported: string): NextFolder {
  const cwd = realFolder(reported);
  if (cwd !== undefined && isInWorkingDirectories(session, cwd)) return { cwd };
  const home = homeOf(session);
  return { cwd: home, note: `The working directory was reset to "${home}": "${reported}" is outside the workspace` };
}
