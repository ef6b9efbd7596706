/**
 * Runs saved batches: each run is a turn of a session of its own, with the narrower of the permissions that its trigger
 * was saved with and those that the session which saved it has now.
 */
import { isGauntletError } from '../src/base/errors.ts';
import { newId } from '../src/base/new-id.ts';
import { narrowerBound } from '../src/permissions/child-permissions.ts';
import type { SessionDirectory } from '../src/session/directory/session-directory.ts';
import type { Session } from '../src/session/session.ts';
import type { SubmittedTurn } from '../src/session/turn/intake.ts';
import type { Trigger, Triggers } from '../src/tasks/triggers.ts';
import type { PermissionBound } from '../src/tool/permission-bound.ts';

/** A run that has begun. */
export interface StartedTrigger {
  readonly session: Session;
  readonly turn: SubmittedTurn;
}

/** Create the function that starts a saved batch. It throws as `SessionDirectory.create` and `Session.submit`. */
export function createTriggerStart(triggers: Triggers, directory: Pick<SessionDirectory, 'open' | 'create'>) {
  return async (principal: string, id: string): Promise<StartedTrigger> => {
    const trigger = await triggers.get(principal, id);
    const bound = await boundNow(directory, principal, trigger);
    const session = await directory.create(principal, { ...bound, cwd: trigger.cwd, title: trigger.title });
    const blocks = trigger.tool_uses.map(({ name, input }) => {
      return { type: 'tool_use', id: newId('trigger'), name, input } as const;
    });
    return { session, turn: await session.submit({ blocks }) };
  };
}

async function boundNow(
  directory: Pick<SessionDirectory, 'open'>,
  principal: string,
  { sessionId, atMost }: Trigger,
): Promise<PermissionBound> {
  try {
    return narrowerBound((await directory.open(principal, sessionId)).context.permissions, atMost);
  } catch (error) {
    // Its session is gone: what it was saved with bounds it still.
    if (isGauntletError(error, 'not_found')) return atMost;
    throw error;
  }
}
