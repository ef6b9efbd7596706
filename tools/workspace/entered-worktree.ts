/** Moves a session into a worktree of its own, and out of it. */
import { isInWorkingDirectories, realFolder } from '../../src/files/working-directories.ts';
import type { SessionContext, Worktree } from '../../src/tool/session-context.ts';

/** Key of the state that tells a worktree of the session from one that was made for an agent. */
const STATE = 'EnterWorktree';

/** Return the worktree that the session entered by itself. */
export function enteredWorktree({ worktree, toolState }: SessionContext): Worktree | undefined {
  return worktree !== undefined && toolState[STATE] === worktree.path ? worktree : undefined;
}

/** Move a session into a worktree that it made. */
export function inWorktree(session: SessionContext, worktree: Worktree): SessionContext {
  const toolState = { ...session.toolState, [STATE]: worktree.path };
  return { ...session, cwd: worktree.path, worktree, toolState };
}

/** Move a session back to where it was; to its root if that folder is gone. */
export function outOfWorktree({ worktree, toolState, ...session }: SessionContext): SessionContext {
  const { [STATE]: _entered, ...kept } = toolState;
  const cwd = worktree?.originalCwd ?? session.root;
  const isThere = realFolder(cwd) === cwd && isInWorkingDirectories(session, cwd);
  return { ...session, toolState: kept, cwd: isThere ? cwd : session.root };
}
