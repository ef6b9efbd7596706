/** Workspace tools: move a session to a place of its own, and back. */
import { enterWorktreeTool } from './enter-worktree.ts';
import { exitWorktreeTool } from './exit-worktree.ts';
import type { WorkspaceToolServices } from './services.ts';

/** Create all workspace tools, in no particular order; the pool sorts them. */
export function workspaceTools(services: WorkspaceToolServices) {
  return [enterWorktreeTool(services), exitWorktreeTool(services)];
}
