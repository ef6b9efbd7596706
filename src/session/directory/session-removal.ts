/**
 * Removes sessions with their children: what runs, the log, shared entries, processes and files.
 */
import type { Session } from '../session.ts';
import { tellSessionEnd } from '../session-hooks.ts';
import type { SessionServices } from '../session-services.ts';
import { childIdsOf } from '../turn/child-sessions.ts';
import type { AwakeSessions } from './awake-sessions.ts';

/** Services of sessions, and those that remove what a session leaves outside its log. */
export interface RemovalServices extends SessionServices {
  /** Remove what a session shared with its children in the store of its principal. */
  removeShared?(principal: string, sessionId: string): Promise<void>;
  /** Remove a session's spilled results and the stored contents of its changes. */
  removeFolder(sessionId: string): Promise<void>;
}

/** Removal of the sessions of one server. */
export class SessionRemoval {
  readonly #services: RemovalServices;
  readonly #awake: Pick<AwakeSessions, 'get' | 'drop'>;

  constructor(services: RemovalServices, awake: Pick<AwakeSessions, 'get' | 'drop'>) {
    this.#services = services;
    this.#awake = awake;
  }

  /** End what runs in a session and its children, and remove them. */
  async endAndRemove(session: Session): Promise<void> {
    this.#endTree(session);
    await this.remove(session.id);
  }

  /** Remove a session with its children. */
  async remove(sessionId: string): Promise<void> {
    const { log } = this.#services;
    for (const childId of childIdsOf(log, sessionId)) await this.remove(childId);
    const ended = this.#awake.drop(sessionId);
    const principal = log.find(sessionId)?.principal;
    if (principal !== undefined) await this.#services.removeShared?.(principal, sessionId);
    await log.remove(sessionId);
    // A task may write to its file until it has ended.
    await ended;
    await this.#services.endProcesses?.(sessionId);
    // The session is removed; files that remain concern the operator, not the client.
    await this.#services
      .removeFolder(sessionId)
      .catch((error: unknown) => this.#services.onFault(error, "A session's files could not be removed"));
  }

  #endTree(session: Session): void {
    session.end();
    tellSessionEnd(session, this.#services);
    for (const childId of childIdsOf(this.#services.log, session.id)) {
      const child = this.#awake.get(childId);
      if (child) this.#endTree(child);
    }
  }
}
