/**
 * The sessions in memory: those in use, and those that were a short while ago. The others sleep in the log.
 */
import type { Limits } from '../../../config/limits.ts';
import type { Session } from '../session.ts';

/** What decides about sleep. */
export interface SleepRules {
  readonly limits: Pick<Limits, 'openSessions' | 'idleSessionMs' | 'idleLookMs'>;
  /** A session could not be saved; it stays awake. */
  onFault(error: unknown, what: string): void;
}

interface Awake {
  readonly session: Session;
  /** Monotonic milliseconds at which it was last asked for, or seen in use. */
  usedMs: number;
}

/** Sessions by id. */
export class AwakeSessions {
  readonly #rules: SleepRules;
  /** The longest unused first. */
  readonly #awake = new Map<string, Awake>();
  /** Those that are being saved so that they can sleep. */
  readonly #falling = new Set<Awake>();
  readonly #timer: NodeJS.Timeout;

  constructor(rules: SleepRules) {
    this.#rules = rules;
    this.#timer = setInterval(() => this.#look(), rules.limits.idleLookMs).unref();
  }

  get size(): number {
    return this.#awake.size;
  }

  /** All of them, the longest unused first. */
  get all(): readonly Session[] {
    return [...this.#awake.values()].map(({ session }) => session);
  }

  get(sessionId: string): Session | undefined {
    return this.#awake.get(sessionId)?.session;
  }

  /** Add a session. Where there are too many now, those longest unused go to sleep. */
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

  /** Somebody asked for a session. */
  touch(sessionId: string): void {
    const awake = this.#awake.get(sessionId);
    if (!awake) return;
    awake.usedMs = performance.now();
    this.#awake.delete(sessionId);
    this.#awake.set(sessionId, awake);
  }

  /** Put a session to sleep that nobody uses. */
  sleep(sessionId: string): void {
    const awake = this.#awake.get(sessionId);
    if (awake && this.#maySleep(awake)) void this.#sleep(awake);
  }

  /** Save all that can be saved now. */
  async saveAll(): Promise<void> {
    await Promise.all(this.all.map((session) => this.#save(session)));
  }

  /** Whether somebody uses it, or something goes on for it. */
  isInUse(sessionId: string): boolean {
    const awake = this.#awake.get(sessionId);
    return awake !== undefined && !this.#maySleep(awake);
  }

  /**
   * Let go of a session without saving it: it was removed, taken over, or never landed.
   *
   * @returns Once its background tasks have ended.
   */
  async drop(sessionId: string): Promise<void> {
    const ended = this.#awake.get(sessionId)?.session.close();
    this.#awake.delete(sessionId);
    await ended;
  }

  /** Save and let go of all. What cannot be saved is read from its log again. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const sessions = this.all;
    this.#awake.clear();
    const saving = sessions.map((session) => this.#save(session));
    const closing = sessions.map((session) => session.close());
    await Promise.all([...saving, ...closing]);
  }

  /**
   * What has been out of use for long enough goes to sleep; what is in use was used just now. Of the others it is kept
   * which files they read, so that a server that is killed forgets little of it.
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

  /** Whoever asks for it before it is saved keeps it awake. */
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
