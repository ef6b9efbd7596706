/** Gives an agent a git worktree of its own, and removes it when nothing would be lost. */
import { randomBytes } from 'node:crypto';
import { errorMessage, GauntletError, isGauntletError } from '../../../src/base/errors.ts';
import {
  makeWorktree,
  removeWorktree,
  worktreeLosses,
  type WorktreeServices,
} from '../../../src/process/git-worktree.ts';
import type { Worktree } from '../../../src/tool/session-context.ts';
import type { ToolUseContext } from '../../../src/tool/tool.ts';

/** Time to look at a worktree and to remove it when its agent has ended, also where the call was cancelled. */
const SETTLE_MS = 60_000;

/** The worktree of an agent that changed something. */
export interface Kept {
  readonly worktree?: Worktree;
}

/**
 * Let an agent work in a worktree that is made for it.
 *
 * @throws What `work` throws; its message then names a worktree that stays.
 */
export async function inOwnWorktree<Outcome extends object>(
  services: WorktreeServices,
  context: ToolUseContext,
  signal: AbortSignal,
  work: (worktree: Worktree) => Promise<Outcome>,
): Promise<Outcome & Kept> {
  const worktree = await makeWorktree(services, { ...context, signal }, `agent-${randomBytes(4).toString('hex')}`);
  try {
    const outcome = await work(worktree);
    return (await isKept(services, context, worktree)) ? { ...outcome, worktree } : outcome;
  } catch (error) {
    if (!(await isKept(services, context, worktree))) throw error;
    // The result of a call that was cancelled does not have this message.
    context.notify('warning', 'worktree_kept', keptText(worktree));
    const code = isGauntletError(error) ? error.code : 'tool_failed';
    throw new GauntletError(code, `${errorMessage(error)}. ${keptText(worktree)}`, { cause: error });
  }
}

/** Remove the worktree of an agent that has ended. @returns True if it stays, since something would be lost. */
async function isKept(services: WorktreeServices, context: ToolUseContext, worktree: Worktree): Promise<boolean> {
  const call = { ...context, signal: AbortSignal.timeout(SETTLE_MS) };
  try {
    if ((await worktreeLosses(services, call, worktree)).length > 0) return true;
    await removeWorktree(services, call, worktree, { isForced: false });
    return false;
  } catch (error) {
    context.notify('warning', 'worktree_kept', errorMessage(error));
    return true;
  }
}

/** Tell the calling model where the agent's changes are. */
export function keptText({ path, branch }: Worktree): string {
  return `Its changes are in the worktree ${path}, on the branch ${branch}`;
}
