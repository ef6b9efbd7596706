/** The mode that a session was in before plan mode, kept until it leaves plan mode. */
import type { SessionContext } from '../../src/tool/session-context.ts';
import type { PermissionMode } from '../../src/wire/permission-context.ts';
import { PERMISSION_MODES } from '../../src/wire/permission-names.ts';

/** Key of the mode in the session's state. */
const KEY = 'EnterPlanMode';

/** Turn plan mode on, and keep the mode before. */
export function withPlanMode(session: SessionContext): SessionContext {
  const { permissions, toolState } = session;
  if (permissions.mode === 'plan') return session;
  return {
    ...session,
    permissions: { ...permissions, mode: 'plan' },
    toolState: { ...toolState, [KEY]: permissions.mode },
  };
}

/** Turn plan mode off. A mode that was set meanwhile stays. */
export function withoutPlanMode(session: SessionContext, mode: PermissionMode): SessionContext {
  const { [KEY]: _before, ...toolState } = session.toolState;
  const { permissions } = session;
  const next = permissions.mode === 'plan' ? { ...permissions, mode } : permissions;
  return { ...session, permissions: next, toolState };
}

/** The mode that a session goes back to; `default` where it began in plan mode. */
export function modeBeforePlan({ toolState }: SessionContext): PermissionMode {
  const before = PERMISSION_MODES.find((mode) => mode === toolState[KEY]);
  return before === undefined || before === 'plan' ? 'default' : before;
}
