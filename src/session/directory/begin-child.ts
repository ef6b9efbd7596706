/**
 * Begins the child session of a call.
 */
import type { OpenedFrame } from '../../wire/frames.ts';
import { newCore } from '../restore/open-core.ts';
import type { SessionCore } from '../session-core.ts';
import type { ParentLink, RunningChild, SessionServices } from '../session-services.ts';
import { runningChild } from './child-session.ts';
import type { SessionRemoval } from './session-removal.ts';

/** Parts of the directory that a child session begins in. */
export interface ChildPlace {
  readonly services: SessionServices;
  readonly removal: Pick<SessionRemoval, 'remove'>;
  /** Add the session to those in memory. @returns Once its first frame is on disk. */
  add(core: SessionCore): Promise<unknown>;
}

/** Begin a child session. @throws {GauntletError} `log_unavailable` */
export async function beginChild(
  opened: OpenedFrame,
  linkTo: (child: RunningChild) => ParentLink,
  { services, removal, add }: ChildPlace,
): Promise<RunningChild> {
  const core = newCore(opened, services);
  const child = runningChild(core);
  core.parent = linkTo(child);
  await add(core);
  // Its parent was removed meanwhile.
  if (!services.log.find(opened.parent?.session_id ?? '')) await removal.remove(opened.session_id);
  return child;
}
