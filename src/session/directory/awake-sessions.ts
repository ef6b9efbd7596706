/**
 * The sessions in memory: those in use and those used recently. All others are loaded from the log on demand.
 */
import type { Limits } from '../../../config/limits.ts';
import type { Session } from '../session.ts';

/** Interval at which idle sessions are looked for; shorter where `idleSessionMs` is. */
const IDLE_CHECK_MS = 5_000;

/** Rules for unloading sessions. */
export interface SleepRules {
  readonly limits: Pick<Limits, 'openSessions' | 'idleSessionMs'>;
  /** Called when a session could not be saved; it stays loaded. */
  onFault(error: unknown, what: string): void;
}

interface Awake {
  readonly session: Session;
  /** Monotonic milliseconds at which it was last requested or seen in use. */
  usedMs: number;
}

/** Contents of the sessions in memory. */
export interface SessionUsage {
  /** Sessions, those of agents included. */
  readonly open: number;
  /** Sessions that wait for a person, those of agents as part of their parent. */
  readonly waiting: number;
  /** Calls that were accepted and have not ended. */
  readonly calls: number;
  readonly questions: number;
  /** Background tasks that run. */
  readonly tasks: number;
}

/** Loaded sessions by id. */
export class AwakeSessions {
  readonly #rules: SleepRules;
  /** Least recently used first. */
  readonly #awake = new Map<string, Awake>();
  /** Sessions being saved in order to be unloaded. */
  readonly #falling = new Set<Awake>();
  readonly #timer: NodeJS.Timeout;

  constructor(rules: SleepRules) {
    this.#rules = rules;
    this.#timer = setInterval(() => this.#look(), Math.min(IDLE_CHECK_MS, rules.limits.idleSessionMs)).unref();
  }

  /** Count what sessions hold. @param principal Absent: those of all. */
  usage(principal?: string): SessionUsage {
    const sessions = principal === undefined ? this.all : this.all.filter((session) => session.principal === principal);
    const sum = (count: (session: Session) => number) => sessions.reduce((total, session) => total + count(session), 0);
    return {
      open: sessions.length,
      waiting: sessions.filter((session) => !session.isChild && session.prompts().length > 0).length,
      calls: sum(({ callCount }) => callCount),
      questions: sum(({ ownPrompts }) => ownPrompts.length),
      tasks: sum(({ runningTaskCount }) => runningTaskCount),
    };
  }

  get size(): number {
    return this.#awake.size;
  }

  /** All loaded sessions, least recently used first. */
  get all(): readonly Session[] {
    return [...this.#awake.values()].map(({ session }) => session);
  }

  get(sessionId: string): Session | undefined {
    return this.#awake.get(sessionId)?.session;
  }

  /** Add a session. Beyond the limit, the least recently used ones are unloaded. */
  add(session: Session): void {
    this.#awake.set(session.id, { session, usedMs: performance.now() });
    let excess = this.#awake.size - this.#falling.size - this.#rules.limits.openSessions;
    for (const awake of this.#awake.values()) {
      if (excess <= 0) return;
      if (this.#falling.has(awake) || !this.#maySleep(awake)) continue;
      excess--;
      void this.#sleep(awake);
    }
  }

  /** Mark a session as used. */
  touch(sessionId: string): void {
    const awake = this.#awake.get(sessionId);
    if (!awake) return;
    awake.usedMs = performance.now();
    this.#awake.delete(sessionId);
    this.#awake.set(sessionId, awake);
  }

  /** Unload a session unless it is in use. */
  sleep(sessionId: string): void {
    const awake = this.#awake.get(sessionId);
    if (awake && this.#maySleep(awake)) void this.#sleep(awake);
  }

  /** Save all sessions that can be saved now. */
  async saveAll(): Promise<void> {
    await Promise.all(this.all.map((session) => this.#save(session)));
  }

  /** True if a client uses it, or it has running work. */
  isInUse(sessionId: string): boolean {
    const awake = this.#awake.get(sessionId);
    return awake !== undefined && !this.#maySleep(awake);
  }

  /**
   * Drop a session without saving it: it was removed, taken over, or its creation failed.
   *
   * @returns Once its background tasks have ended.
   */
  async drop(sessionId: string): Promise<void> {
    const ended = this.#awake.get(sessionId)?.session.close();
    this.#awake.delete(sessionId);
    await ended;
  }

  /** Save and drop all sessions. One that cannot be saved is restored from its log. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const sessions = this.all;
    this.#awake.clear();
    const saving = sessions.map((session) => this.#save(session));
    const closing = sessions.map((session) => session.close());
    await Promise.all([...saving, ...closing]);
  }

  /**
   * Unload sessions that were unused for long enough; those in use count as just used. For the others the read state is
   * saved, so that a killed server loses little of it.
   */
  #look(): void {
    const sinceMs = performance.now() - this.#rules.limits.idleSessionMs;
    for (const awake of [...this.#awake.values()]) {
      const { session, usedMs } = awake;
      if (usedMs <= sinceMs && this.#maySleep(awake)) void this.#sleep(awake);
      else if (usedMs <= sinceMs) this.touch(session.id);
      else if (session.hasNewReads) void this.#try(() => session.saveReads());
    }
  }

  #maySleep({ session }: Awake): boolean {
    return !session.isInUse;
  }

  /** A request for the session while it is being saved keeps it loaded. */
  async #sleep(awake: Awake): Promise<void> {
    const { session, usedMs } = awake;
    if (this.#falling.has(awake)) return;
    this.#falling.add(awake);
    const isSaved = await this.#save(session);
    this.#falling.delete(awake);
    const isUnused = this.#awake.get(session.id) === awake && awake.usedMs === usedMs && this.#maySleep(awake);
    if (isSaved && isUnused) void this.drop(session.id);
  }

  #save(session: Session): Promise<boolean> {
    return this.#try(() => session.save());
  }

  async #try(save: () => Promise<void>): Promise<boolean> {
    try {
      await save();
      return true;
    } catch (error) {
      this.#rules.onFault(error, 'A session could not be saved');
      return false;
    }
  }
}
