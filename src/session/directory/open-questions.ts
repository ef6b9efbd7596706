/**
 * Open questions of all sessions that a principal may answer.
 *
 * A session with a question is in memory. Those that the last server left in the middle of a call are loaded when their
 * principal first asks.
 */
import { isGauntletError } from '../../base/errors.ts';
import type { FrameLog } from '../../log/frame-log.ts';
import type { PermissionRequestFrame } from '../../wire/frames.ts';
import { usableSnapshot } from '../restore/read-history.ts';
import type { Session } from '../session.ts';
import type { AwakeSessions } from './awake-sessions.ts';

/** An open question, and the session that asks it. */
export type SessionQuestion = PermissionRequestFrame & { readonly session_id: string };

/** Sessions read in one step when all of a principal are looked through. */
const LISTED_AT_ONCE = 200;

/** Questions of the sessions of one server. */
export class OpenQuestions {
  readonly #log: Pick<FrameLog, 'list'>;
  readonly #awake: Pick<AwakeSessions, 'all'>;
  readonly #open: (principal: string, sessionId: string) => Promise<Session>;
  /** By principal: ends when its sessions that the last server left in the middle of a call are in memory. */
  readonly #unsettled = new Map<string, Promise<void>>();

  constructor(
    log: Pick<FrameLog, 'list'>,
    awake: Pick<AwakeSessions, 'all'>,
    open: (principal: string, sessionId: string) => Promise<Session>,
  ) {
    this.#log = log;
    this.#awake = awake;
    this.#open = open;
  }

  /** List the questions of a principal's own sessions, those of agents once, and those that need several principals. */
  async list(principal: string): Promise<readonly SessionQuestion[]> {
    const waking = this.#unsettled.get(principal) ?? this.#wakeUnsettled(principal);
    this.#unsettled.set(principal, waking);
    waking.catch(() => this.#unsettled.delete(principal));
    await waking;
    return this.#awake.all
      .filter(({ isChild }) => !isChild)
      .flatMap((session) =>
        session
          .prompts()
          .filter(({ approvals }) => session.principal === principal || approvals)
          .map((question) => ({ ...question, session_id: question.session_id ?? session.id })),
      );
  }

  /** Load the sessions whose questions may still be open: a snapshot stands before calls without a result. */
  async #wakeUnsettled(principal: string): Promise<void> {
    for (let cursor: string | undefined, isLast = false; !isLast;) {
      const page = this.#log.list(principal, { limit: LISTED_AT_ONCE, cursor });
      for (const logged of page.sessions) {
        if (usableSnapshot(logged)?.seq === logged.bounds.head) continue;
        try {
          await this.#open(principal, logged.sessionId);
        } catch (error) {
          // Removed meanwhile, outside the current roots, or one session too many: its own requests say so.
          if (!isGauntletError(error, 'not_found', 'forbidden', 'rate_limited', 'gone')) throw error;
        }
      }
      cursor = page.cursor;
      isLast = cursor === undefined;
    }
  }
}
