/**
 * Directory of all sessions, and the only access of routes to them.
 *
 * A session is loaded from the log on its first request, which also repairs it after a crash, and unloaded when it is
 * unused.
 */
import { createHash } from 'node:crypto';
import type { PrincipalLimits } from '../../../config/settings/principal-limits.ts';
import { GauntletError, isGauntletError } from '../../base/errors.ts';
import type { OpenedFrame, PermissionRequestFrame } from '../../wire/frames.ts';
import type { LoggedSession, SessionPage } from '../../log/frame-log.ts';
import { AwakeSessions } from './awake-sessions.ts';
import { runningChild } from './child-session.ts';
import { listSessions, type SessionQuery } from './list-sessions.ts';
import { type NewSession, type NewSessionRules, newSessionFrame } from './new-session.ts';
import { SessionFeeds, type SessionNews } from './session-feed.ts';
import type { LabelChange } from '../session-label.ts';
import { newCore, restoredCore } from '../restore/open-core.ts';
import { historyInOrder, noSuchSession, usableSnapshot } from '../restore/read-history.ts';
import { Session } from '../session.ts';
import type { SessionDescription } from '../../wire/session-replies.ts';
import { tellSessionEnd, tellSessionStart } from '../session-hooks.ts';
import type { SessionCore } from '../session-core.ts';
import type { ParentLink, RunningChild, SessionServices } from '../session-services.ts';
import { childIdsOf } from '../turn/child-sessions.ts';
import { describeAsleep, sessionContextFrom } from '../restore/restored-context.ts';

/** Sessions read in one step when all of a principal are looked through. */
const LISTED_AT_ONCE = 200;

/** Between two looks whether running calls have finished. */
const DRAIN_LOOK_MS = 20;

/** Title of standing sessions. */
const STANDING_TITLE = 'Standing session';

/** Dependencies of a directory, beside those of its sessions. */
export interface DirectoryServices extends SessionServices, NewSessionRules {
  /** Return the limits of a principal; absent: unlimited. */
  limitsOf?(principal: string): PrincipalLimits;
  /** Remove a session's shared with its children in the store of its principal. */
  removeShared?(principal: string, sessionId: string): Promise<void>;
  /** Remove what a session spilled results and the stored contents of its changes. */
  removeFolder(sessionId: string): Promise<void>;
}

/** All sessions of this server. */
export class SessionDirectory {
  readonly #services: DirectoryServices;
  readonly #awake: AwakeSessions;
  readonly #feeds: SessionFeeds;
  readonly #opening = new Map<string, Promise<Session>>();
  /** Standing sessions that are being opened or created, by id. */
  readonly #standing = new Map<string, Promise<Session>>();
  /** By principal: ends when its sessions that the last server left in the middle of a call are in memory. */
  readonly #unsettled = new Map<string, Promise<void>>();

  constructor(services: DirectoryServices) {
    this.#feeds = new SessionFeeds({
      principalOf: (sessionId) => this.#awake.get(sessionId)?.principal,
      describe: (principal, sessionId) => this.#describeById(principal, sessionId),
      onFault: services.onFault,
    });
    this.#services = {
      ...services,
      log: this.#feeds.observe(services.log),
      callsLeft: (principal) => this.#callsLeft(principal),
      beginChild: (opened, linkTo) => this.#beginChild(opened, linkTo),
    };
    this.#awake = new AwakeSessions(services);
  }

  /** Number of sessions in memory. */
  get openCount(): number {
    return this.#awake.size;
  }

  /** Number of questions that wait for an answer. A session that has one is in memory. */
  get questionCount(): number {
    return this.#awake.all.reduce((sum, session) => sum + session.ownPrompts.length, 0);
  }

  /** Number of background tasks that run. */
  get taskCount(): number {
    return this.#awake.all.reduce((sum, session) => sum + session.runningTaskCount, 0);
  }

  /**
   * Create a session.
   *
   * @returns Once it is on disk.
   * @throws {GauntletError} `invalid_request`, `forbidden`, `log_unavailable`
   */
  async create(principal: string, request: NewSession): Promise<Session> {
    const { session, landed } = this.#begin(principal, request);
    await landed;
    return session;
  }

  /** Create a session for one batch: its first frame and the batch's frames are written together. */
  createForBatch(principal: string): Session {
    return this.#begin(principal, {}).session;
  }

  /**
   * Return the standing session of a principal: the one for callers that name none, created on first use. It stays the
   * same across restarts, until it is removed or the principal's sessions begin in another folder.
   *
   * @throws {GauntletError} As `create`
   */
  async standing(principal: string): Promise<Session> {
    const digest = createHash('sha256').update(`${principal}\0${this.#services.resolveFolder(principal, undefined)}`);
    const sessionId = `ses_standing_${digest.digest('base64url')}`;
    // Requests that come at once must not create it twice.
    const known = this.#standing.get(sessionId);
    if (known) return known;
    const found = this.open(principal, sessionId)
      .catch((error: unknown) => {
        if (!isGauntletError(error, 'not_found')) throw error;
        return this.create(principal, { sessionId, title: STANDING_TITLE });
      })
      .finally(() => this.#standing.delete(sessionId));
    this.#standing.set(sessionId, found);
    return found;
  }

  /**
   * Return a session, loaded if necessary.
   *
   * @throws {GauntletError} `not_found`, also for a session of another principal.
   */
  async open(principal: string, sessionId: string): Promise<Session> {
    const session = this.#inMemory(sessionId) ?? (await this.#wake(principal, sessionId));
    if (session?.principal !== principal) throw noSuchSession(sessionId);
    this.#awake.touch(sessionId);
    return session;
  }

  /**
   * Return a session whose question the principal may answer: one of its own, or one with a question that needs several
   * principals.
   *
   * @throws {GauntletError} `not_found`, as `open`
   */
  async openToAnswer(principal: string, sessionId: string, requestId: string): Promise<Session> {
    const session = this.#inMemory(sessionId);
    const isShared = session?.prompts().some((question) => question.request_id === requestId && question.approvals);
    return session && isShared ? session : this.open(principal, sessionId);
  }

  /**
   * List open questions that the principal may answer, those of agents once: of its own sessions, and those that need
   * several principals.
   */
  async openQuestions(principal: string): Promise<(PermissionRequestFrame & { readonly session_id: string })[]> {
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

  /**
   * List a principal's sessions, newest first. Unloaded ones whose snapshot is current are described without loading
   * them.
   *
   * @throws {GauntletError} `invalid_request` for a malformed cursor.
   */
  list(principal: string, query: SessionQuery): Promise<SessionPage<SessionDescription>> {
    return listSessions(this.#services.log, principal, query, (who, logged) => this.#describe(who, logged));
  }

  /** Return a session's context, of its snapshot if that is current. @throws {GauntletError} as `open` */
  async contextOf(principal: string, sessionId: string): Promise<Session['context']> {
    const logged = this.#inMemory(sessionId) ? undefined : this.#services.log.find(sessionId);
    const saved = logged && usableSnapshot(logged);
    const isCurrent = logged?.principal === principal && saved?.seq === logged.bounds.head;
    if (isCurrent) return sessionContextFrom(saved.savedState, this.#services);
    return (await this.open(principal, sessionId)).context;
  }

  /** Yield news of a principal's sessions from now on, until `signal` aborts. */
  watch(principal: string, signal: AbortSignal): AsyncIterable<readonly SessionNews[]> {
    return this.#feeds.watch(principal, signal);
  }

  /** Change a session's title or archive mark. @throws {GauntletError} `not_found`, `log_unavailable` */
  async relabel(principal: string, sessionId: string, change: LabelChange): Promise<SessionDescription> {
    const session = await this.open(principal, sessionId);
    await session.relabel(change);
    this.#feeds.changed(sessionId);
    return session.describe();
  }

  /** End what runs, and remove the session. @throws {GauntletError} `not_found` */
  async remove(principal: string, sessionId: string): Promise<void> {
    const session = await this.open(principal, sessionId);
    this.#endTree(session);
    await this.#forget(sessionId);
  }

  /** Remove a session for its age, unless it is in use. @returns True if it was removed. */
  async retire(sessionId: string): Promise<boolean> {
    if (this.#opening.has(sessionId) || this.#awake.isInUse(sessionId)) return false;
    await this.#forget(sessionId);
    return true;
  }

  /** Save all sessions in memory. */
  saveAll(): Promise<void> {
    return this.#awake.saveAll();
  }

  /** Repair and save a session. One that cannot be opened stays as it is. */
  async settle(principal: string, sessionId: string): Promise<void> {
    try {
      await (await this.open(principal, sessionId)).save();
    } catch (error) {
      this.#services.onFault(error, 'A session could not be saved');
    }
  }

  /** Notify watchers that the list of external tools changed. @param sessionId Absent: that of all sessions. */
  announceTools(sessionId?: string): void {
    const changed = this.#awake.all.filter(({ id }) => sessionId === undefined || id === sessionId);
    for (const session of changed) if (session.isWatched) session.announceTools();
  }

  /**
   * Let running calls finish; those that have not by the end of the drain time, and all background tasks, are
   * interrupted.
   */
  async drain(signal: AbortSignal): Promise<void> {
    const { drainMs, killGraceMs } = this.#services.limits;
    const isBusy = (session: Session) => session.isWorking || !session.isLogged;
    await this.#untilNone(isBusy, drainMs, signal);
    for (const session of this.#awake.all) session.stopWorking();
    await this.#untilNone((session) => isBusy(session) || session.hasTasks, 2 * killGraceMs, signal);
  }

  /** Drop all sessions; open questions remain in the log. @returns Once they are saved. */
  close(): Promise<void> {
    return this.#awake.close();
  }

  /** Load the sessions whose questions may still be open: a snapshot stands before calls without a result. */
  async #wakeUnsettled(principal: string): Promise<void> {
    for (let cursor: string | undefined, isLast = false; !isLast;) {
      const page = this.#services.log.list(principal, { limit: LISTED_AT_ONCE, cursor });
      for (const logged of page.sessions) {
        if (usableSnapshot(logged)?.seq === logged.bounds.head) continue;
        try {
          await this.open(principal, logged.sessionId);
        } catch (error) {
          // Removed meanwhile, outside the current roots, or one session too many: its own requests say so.
          if (!isGauntletError(error, 'not_found', 'forbidden', 'rate_limited', 'gone')) throw error;
        }
      }
      cursor = page.cursor;
      isLast = cursor === undefined;
    }
  }

  #endTree(session: Session): void {
    session.end();
    tellSessionEnd(session, this.#services);
    for (const childId of childIdsOf(this.#services.log, session.id)) {
      const child = this.#awake.get(childId);
      if (child) this.#endTree(child);
    }
  }

  /** Remove a session with its children. */
  async #forget(sessionId: string): Promise<void> {
    for (const childId of childIdsOf(this.#services.log, sessionId)) await this.#forget(childId);
    const ended = this.#awake.drop(sessionId);
    const principal = this.#services.log.find(sessionId)?.principal;
    if (principal !== undefined) await this.#services.removeShared?.(principal, sessionId);
    await this.#services.log.remove(sessionId);
    // A task may write to its file until it has ended.
    await ended;
    await this.#services.endProcesses?.(sessionId);
    // The session is removed; files that remain concern the operator, not the client.
    await this.#services
      .removeFolder(sessionId)
      .catch((error: unknown) => this.#services.onFault(error, "A session's files could not be removed"));
  }

  /** Number of calls that a principal may still start. */
  #callsLeft(principal: string): number {
    const most = this.#services.limitsOf?.(principal).callsAtOnce ?? 0;
    if (most === 0) return Infinity;
    return most - this.#openOf(principal).reduce((count, session) => count + session.callCount, 0);
  }

  #openOf(principal: string): readonly Session[] {
    return this.#awake.all.filter((session) => session.principal === principal);
  }

  /** Unload idle sessions of a principal until one more fits its limit. @throws {GauntletError} `rate_limited` */
  #makeRoom(principal: string): void {
    const most = this.#services.limitsOf?.(principal).sessionsInUse ?? 0;
    if (most === 0) return;
    const own = this.#openOf(principal);
    const idle = own.filter((session) => !session.isInUse).slice(0, Math.max(0, own.length + 1 - most));
    if (own.length - idle.length >= most) {
      const message = `Cannot use another session: ${most} of yours are in use. End what runs in one, or leave it`;
      throw new GauntletError('rate_limited', message, { details: { reason: 'sessions' } });
    }
    for (const { id } of idle) this.#awake.sleep(id);
  }

  #begin(principal: string, request: NewSession): { session: Session; landed: Promise<unknown> } {
    this.#makeRoom(principal);
    return this.#add(newCore(newSessionFrame(principal, request, this.#services), this.#services));
  }

  async #beginChild(opened: OpenedFrame, linkTo: (child: RunningChild) => ParentLink): Promise<RunningChild> {
    this.#makeRoom(opened.principal);
    const core = newCore(opened, this.#services);
    const child = runningChild(core);
    core.parent = linkTo(child);
    await this.#add(core).landed;
    // Its parent was removed meanwhile.
    if (!this.#services.log.find(opened.parent?.session_id ?? '')) await this.#forget(opened.session_id);
    return child;
  }

  #add(core: SessionCore): { session: Session; landed: Promise<unknown> } {
    const session = new Session(core);
    this.#awake.add(session);
    const landed = core.log.emit(core.opened);
    landed.catch(() => void this.#awake.drop(session.id));
    tellSessionStart(session, this.#services, (notice) => core.log.tell(notice));
    return { session, landed };
  }

  #inMemory(sessionId: string): Session | undefined {
    const session = this.#awake.get(sessionId);
    if (!session?.isTakenOver) return session;
    void this.#awake.drop(sessionId);
    return undefined;
  }

  /** Describe a session for a list; one that was removed meanwhile, or is outside the current roots, is left out. */
  async #describe(principal: string, logged: LoggedSession): Promise<SessionDescription | undefined> {
    const { sessionId, bounds } = logged;
    try {
      const awake = this.#inMemory(sessionId);
      if (awake) return awake.describe();
      const saved = usableSnapshot(logged);
      return saved?.seq === bounds.head
        ? describeAsleep(saved.savedState, bounds.head, this.#services)
        : (await this.open(principal, sessionId)).describe();
    } catch (error) {
      if (isGauntletError(error, 'not_found', 'forbidden')) return undefined;
      throw error;
    }
  }

  async #describeById(principal: string, sessionId: string): Promise<SessionDescription | undefined> {
    const awake = this.#inMemory(sessionId);
    if (awake) return awake.describe();
    const logged = this.#services.log.find(sessionId);
    return logged && this.#describe(principal, logged);
  }

  /** Load a session; concurrent requests share the load. A request of another principal loads nothing. */
  async #wake(principal: string, sessionId: string): Promise<Session | undefined> {
    const opening = this.#opening.get(sessionId);
    if (opening) return opening;
    if (this.#services.log.find(sessionId)?.principal !== principal) return undefined;
    const waking = this.#restore(sessionId).finally(() => this.#opening.delete(sessionId));
    this.#opening.set(sessionId, waking);
    return waking;
  }

  async #restore(sessionId: string): Promise<Session> {
    const history = await historyInOrder(this.#services.log, sessionId);
    this.#makeRoom(history.logged.opened.principal);
    const session = new Session(restoredCore(history.logged, history, this.#services));
    this.#awake.add(session);
    return session;
  }

  /** Resolves when `isBusy` is false for all loaded sessions, or after the time. */
  async #untilNone(isBusy: (session: Session) => boolean, mostMs: number, signal: AbortSignal): Promise<void> {
    const deadlineMs = performance.now() + mostMs;
    while (this.#awake.all.some(isBusy) && performance.now() < deadlineMs && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK_MS));
    }
  }
}
