/**
 * Conversion of a session's context to frames and snapshots.
 */
import type { ContextFrame, OpenedFrame } from '../wire/frames.ts';
import { toWirePermissionContext } from '../permissions/context.ts';
import type { SessionContext, Worktree } from '../tool/session-context.ts';

/** Context in a frame or a snapshot. */
export type LoggedContext = Omit<ContextFrame, 'type' | 'tool_state'>;

/** Build the frame of a change of context. */
export function contextFrame(opened: OpenedFrame, before: SessionContext, after: SessionContext): ContextFrame {
  return {
    type: 'context',
    ...loggedContext(opened, after),
    ...(after.toolState === before.toolState ? {} : { tool_state: after.toolState }),
  };
}

/** True if clients can see the difference; the read state is internal. */
export function isVisibleChange(before: SessionContext, after: SessionContext): boolean {
  return VISIBLE.some((member) => before[member] !== after[member]);
}

const VISIBLE = ['permissions', 'cwd', 'root', 'toolMode', 'worktree', 'toolState'] as const;

/** Build the logged form of a context, without the tools' state. */
export function loggedContext(opened: OpenedFrame, context: SessionContext): LoggedContext {
  const { permissions, cwd, root, toolMode, worktree } = context;
  return {
    version: permissions.version,
    permission_context: toWirePermissionContext(permissions),
    cwd,
    ...(root === opened.cwd ? {} : { root }),
    ...(toolMode === opened.tool_mode ? {} : { tool_mode: toolMode }),
    ...(worktree && { worktree: loggedWorktree(worktree) }),
  };
}

/** Build the logged form of a worktree. */
export function loggedWorktree({ path, branch, originalCwd }: Worktree): NonNullable<ContextFrame['worktree']> {
  return { path, branch, original_cwd: originalCwd };
}
