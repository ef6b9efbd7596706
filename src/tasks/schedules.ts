/**
 * Schedules of prompts: when each is due next, which of them runs, and what survives the server.
 *
 * A durable schedule is in the shared store of its principal. A run has an id that is derived from its number and is on
 * disk before the run begins, so that a run that was begun before a crash is never begun twice.
 */
import { randomBytes } from 'node:crypto';
import { errorMessage, GauntletError, isGauntletError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { OpenSharedStore, SharedStore } from '../log/shared-store.ts';
import type { PermissionBound } from '../tool/permission-bound.ts';

/** Schedules of one principal: a person does not follow more. */
export const MAX_SCHEDULES = 50;

/** Characters of a prompt, so that all schedules of a principal fit into its store. */
export const MAX_PROMPT_CHARS = 20_000;

/** Runs of one principal at once; each is a model at work. Those that are due wait for one to end. */
const MAX_RUNS = 4;

/** Interval at which due schedules are looked for: the clock may be set, and the machine may sleep. */
const LOOK_MS = 1_000;

/** After a run that could not begin, because too much else runs. */
const RETRY_MS = 60_000;

const NAMESPACE = 'schedules';

/** Ids of runs: the schedule, and the number of its run. */
const RUN_ID = /^(cron_[0-9a-f]{8})_\d+$/;

/** A schedule. Plain data, stored as it is. */
export interface Schedule {
  readonly id: string;
  /** Pattern of five fields. */
  readonly cron: string;
  readonly prompt: string;
  readonly recurring: boolean;
  readonly durable: boolean;
  /** Session whose log has the runs. */
  readonly sessionId: string;
  /** Folder of the session that takes its place when it is gone. */
  readonly cwd: string;
  readonly atMost: PermissionBound;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly nextAt: string;
  /** Runs that have begun. */
  readonly runs: number;
  /** The run that has not ended. */
  readonly running?: Pick<DueRun, 'dueAt' | 'isMissed'>;
}

/** Input for a new schedule. */
export type NewSchedule = Pick<Schedule, 'cron' | 'prompt' | 'recurring' | 'durable' | 'sessionId' | 'cwd' | 'atMost'>;

/** A run that is due. */
export interface DueRun {
  /** The same for the same run, also after a restart. */
  readonly runId: string;
  readonly dueAt: string;
  /** True if it was due while the server did not run. */
  readonly isMissed: boolean;
}

/**
 * Runs a prompt to its end.
 *
 * @returns The session whose log has it: that of the schedule, or one that takes its place.
 * @throws {GauntletError} `forbidden` if the principal may not do this any more; `overloaded`, `rate_limited`,
 *   `log_unavailable` if it may later; `shutting_down` if the server ended first.
 */
export type RunPrompt = (principal: string, schedule: Schedule, due: DueRun) => Promise<string>;

/** Services of the schedules. */
export interface SchedulesParts {
  readonly store: OpenSharedStore;
  /** Milliseconds since 1970. */
  now?(): number;
  onFault(error: unknown, what: string): void;
}

/** The schedules of all principals. */
export class Schedules {
  readonly #parts: SchedulesParts;
  readonly #byPrincipal = new Map<string, Map<string, Schedule>>();
  readonly #underWay = new Map<string, number>();
  #run: RunPrompt | undefined;
  /** Time of the start, in milliseconds since 1970; a run that was due before it was missed. */
  #startedMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: SchedulesParts) {
    this.#parts = parts;
  }

  /** Load what is durable, and run what is due from now on. Those of other principals stay where they are. */
  async start(principals: readonly string[], run: RunPrompt): Promise<void> {
    for (const principal of principals) {
      for (const { key, value } of await this.#store(principal).list()) {
        // Only this class writes here, and the store checks what it reads.
        const schedule = value as unknown as Schedule;
        this.#own(principal).set(key, await this.#afterRestart(schedule));
      }
    }
    this.#run = run;
    this.#startedMs = this.#nowMs();
    // No more than were under way when the server ended.
    for (const principal of principals) {
      for (const schedule of this.list(principal)) if (schedule.running) this.#begin(principal, schedule);
    }
    this.#look();
  }

  /** Run nothing more; runs that have begun are ended with their sessions. */
  close(): void {
    this.#run = undefined;
    clearTimeout(this.#timer);
  }

  /** The schedules of a principal, oldest first. */
  list(principal: string): readonly Schedule[] {
    return [...this.#own(principal).values()];
  }

  /**
   * Make a schedule.
   *
   * @returns Once it is on disk, if it is durable.
   * @throws {GauntletError} `invalid_input` for a pattern that is wrong or never due; `resource_exhausted` for too many.
   */
  async create(principal: string, given: NewSchedule): Promise<Schedule> {
    const nowMs = this.#nowMs();
    const nextAt = await nextRun(given.cron, nowMs);
    if (nextAt === undefined) {
      const message = `Cannot schedule "${given.cron}": it is never due. Name a day that exists`;
      throw new GauntletError('invalid_input', message);
    }
    // Nothing is awaited from here until it is in the list: two sessions may make one at once.
    if (this.list(principal).length >= MAX_SCHEDULES) {
      const message = `Cannot make another schedule: there are ${MAX_SCHEDULES} already. Delete one first`;
      throw new GauntletError('resource_exhausted', message);
    }
    const id = `cron_${randomBytes(4).toString('hex')}`;
    const schedule = { ...given, id, createdAt: new Date(nowMs).toISOString(), nextAt, runs: 0 };
    try {
      await this.#keep(principal, schedule);
    } catch (error) {
      this.#own(principal).delete(id);
      throw error;
    }
    this.#look();
    return schedule;
  }

  /** Remove a schedule; a run that has begun goes on. @throws {GauntletError} `tool_failed` if there is none. */
  async delete(principal: string, id: string): Promise<Schedule> {
    const schedule = this.#own(principal).get(id);
    if (!schedule) {
      const known = this.list(principal).map((each) => each.id);
      const hint = known.length === 0 ? 'There are none' : `There are ${known.join(', ')}`;
      throw new GauntletError('tool_failed', `Cannot delete schedule "${id}": it does not exist. ${hint}`);
    }
    await this.#forget(principal, schedule);
    return schedule;
  }

  /**
   * Return what a run may do at most.
   *
   * @returns `undefined` for a call that is no run.
   * @throws {GauntletError} `tool_failed` if its schedule was deleted.
   */
  boundOf(principal: string, runId: string): PermissionBound | undefined {
    const id = RUN_ID.exec(runId)?.[1];
    if (id === undefined) return undefined;
    const schedule = this.#own(principal).get(id);
    if (schedule) return schedule.atMost;
    throw new GauntletError('tool_failed', `Cannot run "${runId}": its schedule was deleted`);
  }

  /** Skip what a recurring one missed; one that runs once and was due meanwhile stays due. */
  async #afterRestart(schedule: Schedule): Promise<Schedule> {
    if (!schedule.recurring) return schedule;
    const nowMs = this.#nowMs();
    const nextAt = Date.parse(schedule.nextAt) > nowMs ? schedule.nextAt : await nextRun(schedule.cron, nowMs);
    // Its run was interrupted with the server.
    return { ...schedule, nextAt: nextAt ?? schedule.nextAt, running: undefined };
  }

  #look(): void {
    clearTimeout(this.#timer);
    if (!this.#run) return;
    const nowMs = this.#nowMs();
    let count = 0;
    for (const [principal, own] of this.#byPrincipal) {
      for (const schedule of own.values()) {
        count += 1;
        const dueMs = Date.parse(schedule.nextAt);
        if (schedule.running || dueMs > nowMs) continue;
        if ((this.#underWay.get(principal) ?? 0) < MAX_RUNS)
          this.#begin(principal, started(schedule, dueMs <= this.#startedMs));
      }
    }
    if (count > 0) this.#timer = setTimeout(() => this.#look(), LOOK_MS).unref();
  }

  #begin(principal: string, schedule: Schedule): void {
    this.#underWay.set(principal, (this.#underWay.get(principal) ?? 0) + 1);
    this.#runOnce(principal, schedule)
      .catch((error: unknown) => this.#parts.onFault(error, `The schedule "${schedule.id}" could not be kept`))
      .finally(() => this.#underWay.set(principal, (this.#underWay.get(principal) ?? 1) - 1));
  }

  async #runOnce(principal: string, schedule: Schedule): Promise<void> {
    const { id, runs, running } = schedule;
    if (!running || !this.#run) return;
    let { sessionId } = schedule;
    try {
      await this.#keep(principal, schedule);
      sessionId = await this.#run(principal, schedule, { runId: `${id}_${runs}`, ...running });
    } catch (error) {
      if (isGauntletError(error, 'shutting_down')) return;
      const isLater = isGauntletError(error, 'overloaded', 'rate_limited', 'log_unavailable');
      this.#parts.onFault(error, `The schedule "${id}" of "${principal}" ${isLater ? 'waits' : 'was ended'}`);
      if (!isLater) return this.#forget(principal, schedule);
      const nextAt = new Date(this.#nowMs() + RETRY_MS).toISOString();
      return this.#keepIfThere(principal, { ...schedule, runs: runs - 1, running: undefined, nextAt });
    }
    const nextAt = schedule.recurring ? await nextRun(schedule.cron, this.#nowMs()) : undefined;
    if (nextAt === undefined) return this.#forget(principal, schedule);
    return this.#keepIfThere(principal, { ...schedule, sessionId, running: undefined, nextAt });
  }

  /** Keep a schedule unless it was deleted while it ran. */
  async #keepIfThere(principal: string, schedule: Schedule): Promise<void> {
    if (this.#own(principal).has(schedule.id)) await this.#keep(principal, schedule);
  }

  /** In memory at once, so that no other look begins it, and one that is deleted meanwhile does not come back. */
  async #keep(principal: string, schedule: Schedule): Promise<void> {
    this.#own(principal).set(schedule.id, schedule);
    if (schedule.durable)
      await this.#store(principal).set(schedule.id, JSON.parse(JSON.stringify(schedule)) as JsonValue);
  }

  async #forget(principal: string, { id, durable }: Schedule): Promise<void> {
    this.#own(principal).delete(id);
    if (durable) await this.#store(principal).delete(id);
  }

  #own(principal: string): Map<string, Schedule> {
    const known = this.#byPrincipal.get(principal);
    if (known) return known;
    const own = new Map<string, Schedule>();
    this.#byPrincipal.set(principal, own);
    return own;
  }

  #store(principal: string): SharedStore {
    return this.#parts.store(principal, NAMESPACE);
  }

  #nowMs(): number {
    return this.#parts.now?.() ?? Date.now();
  }
}

/** A schedule whose next run begins. */
function started(schedule: Schedule, isMissed: boolean): Schedule {
  return { ...schedule, runs: schedule.runs + 1, running: { dueAt: schedule.nextAt, isMissed } };
}

/**
 * Find the next time of a pattern of five fields, in the time zone of the server.
 *
 * @returns ISO 8601; undefined if there is none.
 * @throws {GauntletError} `invalid_input` if the pattern is wrong.
 */
export async function nextRun(cron: string, afterMs: number): Promise<string | undefined> {
  // Loaded here, because most servers schedule nothing.
  const { Cron } = await import('croner');
  try {
    if (cron.trim().split(/\s+/).length !== 5) throw new Error('it must have five fields');
    return new Cron(cron.trim(), { paused: true, mode: '5-part' }).nextRun(new Date(afterMs))?.toISOString();
  } catch (error) {
    const expected = 'Expected minute, hour, day of month, month and day of week, as in "0 9 * * 1-5"';
    throw new GauntletError('invalid_input', `Cannot schedule "${cron}": ${errorMessage(error)}. ${expected}`);
  }
}
