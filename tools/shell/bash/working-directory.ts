/** Where the next command starts: where this one ended, as long as that is inside. */
import { rm } from 'node:fs/promises';
import type { SessionContext } from '../../../src/tool/session-context.ts';
import { withCheckedFile } from '../../../src/files/open-checked.ts';
import { isInWorkingDirectories, realFolder } from '../../../src/files/working-directories.ts';

/** The longest path of the kernel, and its line end. */
const MAX_PATH_BYTES = 4_097;

/** A folder to go on in, and a word about it where it is not the one expected. */
export interface NextFolder {
  readonly cwd: string;
  readonly note?: string;
}

/** Where to start: the session's folder, or its root when that is gone or has become a link. */
export function startFolder({ cwd, root }: SessionContext): NextFolder {
  if (cwd === root || realFolder(cwd) === cwd) return { cwd };
  return { cwd: root, note: `The working directory "${cwd}" is gone; the command ran in "${root}"` };
}

/** Read the report and remove it. @returns undefined when the shell made none: it was killed, or replaced itself. */
export async function takeReport(cwdFile: string): Promise<string | undefined> {
  try {
    // The command knows this path and may have put anything here: a pipe to wait at, a link, an endless file.
    const report = await withCheckedFile(cwdFile, cwdFile, async (file) => {
      const buffer = Buffer.alloc(MAX_PATH_BYTES);
      return buffer.toString('utf8', 0, await file.read(buffer, 0));
    });
    await rm(cwdFile, { force: true });
    return report.endsWith('\n') ? report.slice(0, -1) : undefined;
  } catch {
    // No report, or none that can be read: the session stays where it is.
    return undefined;
  }
}

/** Move a session to where a command ended; to its root where the folder was withdrawn while the command ran. */
export function movedTo(session: SessionContext, cwd: string): SessionContext {
  const next = isInWorkingDirectories(session, cwd) ? cwd : session.root;
  return Object.freeze({ ...session, version: session.version + 1, cwd: next });
}

/** Judge where a command ended. The report comes from the command itself, so its real path is looked up again. */
export function nextFolder(session: SessionContext, reported: string): NextFolder {
  const cwd = realFolder(reported);
  if (cwd !== undefined && isInWorkingDirectories(session, cwd)) return { cwd };
  return {
    cwd: session.root,
    note: `The working directory was reset to "${session.root}": "${reported}" is outside the workspace`,
  };
}
