/**
 * Directory of all sessions, and the only access of routes to them.
 *
 * A session is loaded from the log on its first request, which also repairs it after a crash, and unloaded when it is
 * unused.
 */
import { createHash } from 'node:crypto';
import type { PrincipalLimits } from '../../../config/settings/principal-limits.ts';
import { GauntletError, isGauntletError } from '../../base/errors.ts';
import type { LoggedSession, SessionPage } from '../../log/frame-log.ts';
import { beginChild } from './begin-child.ts';
import { AwakeSessions, type SessionUsage } from './awake-sessions.ts';
import { listSessions, type SessionQuery } from './list-sessions.ts';
import { type NewSession, type NewSessionRules, newSessionFrame } from './new-session.ts';
import { OpenQuestions, type SessionQuestion } from './open-questions.ts';
import { SessionFeeds, type SessionNews } from './session-feed.ts';
import { type RemovalServices, SessionRemoval } from './session-removal.ts';
import type { LabelChange } from '../session-label.ts';
import { newCore, restoredCore } from '../restore/open-core.ts';
import { historyInOrder, noSuchSession, usableSnapshot } from '../restore/read-history.ts';
import { Session } from '../session.ts';
import type { SessionDescription } from '../../wire/session-replies.ts';
import { tellSessionStart } from '../session-hooks.ts';
import type { SessionCore } from '../session-core.ts';
import { describeAsleep, sessionContextFrom } from '../restore/restored-context.ts';

/** Between two looks whether running calls have finished. */
const DRAIN_LOOK_MS = 20;

/** Title of standing sessions. */
const STANDING_TITLE = 'Standing session';

/** Dependencies of a directory, beside those of its sessions. */
export interface DirectoryServices extends RemovalServices, NewSessionRules {
  /** Return the limits of a principal; absent: unlimited. */
  limitsOf?(principal: string): PrincipalLimits;
}

/** All sessions of this server. */
export class SessionDirectory {
  readonly #services: DirectoryServices;
  readonly #awake: AwakeSessions;
  readonly #feeds: SessionFeeds;
  readonly #questions: OpenQuestions;
  readonly #removal: SessionRemoval;
  readonly #opening = new Map<string, Promise<Session>>();
  /** Standing sessions that are being opened or created, by id. */
  readonly #standing = new Map<string, Promise<Session>>();

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
      beginChild: async (opened, linkTo) => {
        this.#makeRoom(opened.principal);
        const add = (core: SessionCore) => this.#add(core).landed;
        return beginChild(opened, linkTo, { services: this.#services, removal: this.#removal, add });
      },
    };
    this.#awake = new AwakeSessions(services);
    this.#questions = new OpenQuestions(services.log, this.#awake, (principal, id) => this.open(principal, id));
    this.#removal = new SessionRemoval(this.#services, this.#awake);
  }

  /** Number of sessions in memory. */
  get openCount(): number {
    return this.#awake.size;
  }

  /** Count what a principal's sessions hold, or those of all. One that has a question or a task is in memory. */
  usage(principal?: string): SessionUsage {
    return this.#awake.usage(principal);
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
  openQuestions(principal: string): Promise<readonly SessionQuestion[]> {
    return this.#questions.list(principal);
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
    await this.#removal.endAndRemove(await this.open(principal, sessionId));
  }

  /** Remove a session for its age, unless it is in use. @returns True if it was removed. */
  async retire(sessionId: string): Promise<boolean> {
    if (this.#opening.has(sessionId) || this.#awake.isInUse(sessionId)) return false;
    await this.#removal.remove(sessionId);
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
    if (awake) return awake.principal === principal ? awake.describe() : undefined;
    const logged = this.#services.log.find(sessionId);
    return logged?.principal === principal ? this.#describe(principal, logged) : undefined;
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
