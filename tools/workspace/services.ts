/** Dependencies of the workspace tools. */
import type { WorktreeServices } from '../../src/process/git-worktree.ts';

/** Services of EnterWorktree and ExitWorktree. */
export type WorkspaceToolServices = WorktreeServices;

/** Members of all tools that need git. */
export function needsGit({ hasGit }: Pick<WorkspaceToolServices, 'hasGit'>) {
  return {
    isEnabled: () => hasGit,
    disabledReason: () => 'git was not found: install it on the PATH of the server, and start it again',
  };
}
