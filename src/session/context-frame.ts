/**
 * A session's context as its readers see it.
 */
import { isPlainData } from '../call/plain-data.ts';
import type { ContextFrame } from '../contract/frames.ts';
import { toWirePermissionContext } from '../contract/permission-context.ts';
import type { SessionContext } from '../contract/session-context.ts';

/** What changed from one context to the next. @throws {TypeError} If a part is missing, or is what JSON cannot hold. */
export function contextFrame(before: SessionContext, after: SessionContext): ContextFrame {
  if (!isPlainData(after.toolState)) throw new TypeError('A context holds what JSON cannot');
  return {
    type: 'context',
    version: after.permissions.version,
    permission_context: toWirePermissionContext(after.permissions),
    cwd: after.cwd,
    ...(after.toolState === before.toolState ? {} : { tool_state: after.toolState }),
  };
}
