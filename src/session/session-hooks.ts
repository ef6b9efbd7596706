/**
 * Notifies hooks of the start and the end of a session, without waiting for them.
 */
import type { SessionContext } from '../tool/session-context.ts';
import type { Session } from './session.ts';
import type { SessionServices } from './session-services.ts';

/** Notify the hooks of a new session. @param tell Sends a notice to its watchers. */
export function tellSessionStart(
  session: Session,
  services: SessionServices,
  tell: (notice: { type: 'notice'; level: 'info' | 'warning'; code: string; message: string }) => void,
): void {
  const notify = (level: 'info' | 'warning', code: string, message: string) =>
    tell({ type: 'notice', level, code, message });
  tellHooks('SessionStart', { source: 'startup' }, session, { ...services, notify });
}

/** Notify the hooks of a removed session. It has no watchers left, so messages of hooks go to the operator. */
export function tellSessionEnd(session: Session, services: SessionServices): void {
  const notify = (_level: string, _code: string, message: string) =>
    services.onFault(new Error(message), 'A hook spoke after its session');
  tellHooks('SessionEnd', { reason: 'other' }, session, { ...services, notify });
}

function tellHooks(
  event: 'SessionStart' | 'SessionEnd',
  fields: Readonly<Record<string, string>>,
  { id, context }: { readonly id: string; readonly context: SessionContext },
  {
    hooks,
    notify,
  }: Pick<SessionServices, 'hooks'> & { notify(level: 'info' | 'warning', code: string, message: string): void },
): void {
  if (!hooks?.has(event)) return;
  const payload = {
    session_id: id,
    cwd: context.cwd,
    permission_mode: context.permissions.mode,
    hook_event_name: event,
    ...fields,
  };
  hooks.tell({ payload, names: Object.values(fields), projectFolder: context.root, notify });
}
