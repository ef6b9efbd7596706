/**
 * A session's context as its readers see it, and as it stands in the log.
 */
import type { ContextFrame, OpenedFrame } from '../wire/frames.ts';
import { toWirePermissionContext } from '../wire/permission-context.ts';
import type { SessionContext } from '../tool/session-context.ts';

/** What a frame or a snapshot says of a context. */
export type LoggedContext = Omit<ContextFrame, 'type' | 'tool_state'>;

/** What changed from one context to the next. */
export function contextFrame(opened: OpenedFrame, before: SessionContext, after: SessionContext): ContextFrame {
  return {
    type: 'context',
    ...loggedContext(opened, after),
    ...(after.toolState === before.toolState ? {} : { tool_state: after.toolState }),
  };
}

/** Whether a reader can see the difference: which files were read is the session's alone. */
export function isVisibleChange(before: SessionContext, after: SessionContext): boolean {
  return VISIBLE.some((member) => before[member] !== after[member]);
}

const VISIBLE = ['permissions', 'cwd', 'root', 'toolMode', 'worktree', 'toolState'] as const;

/** A context without what its tools keep. */
export function loggedContext(opened: OpenedFrame, context: SessionContext): LoggedContext {
  const { permissions, cwd, root, toolMode, worktree } = context;
  return {
    version: permissions.version,
    permission_context: toWirePermissionContext(permissions),
    cwd,
    ...(root === opened.cwd ? {} : { root }),
    ...(toolMode === opened.tool_mode ? {} : { tool_mode: toolMode }),
    ...(worktree && {
      worktree: { path: worktree.path, branch: worktree.branch, original_cwd: worktree.originalCwd },
    }),
  };
}
