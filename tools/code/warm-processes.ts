/**
 * Processes that calls of a session use one after another: started by the first, kept while they are used, and ended
 * when nobody has used them for a while, when their session or the server ends, or to make room for another.
 */
import { errorMessage, GauntletError } from '../../src/base/errors.ts';

/** A process, with what it takes to end it. */
export interface WarmProcess {
  /** True once it has ended, for whatever reason: it is not used again. */
  readonly isGone: boolean;
  /** End it and everything it started. Never rejects. */
  end(): Promise<void>;
}

/** Bounds of one kind of process. */
export interface WarmOptions {
  /** Name of the kind, in the plural, for messages. */
  readonly kind: string;
  readonly maxProcesses: number;
  /** Unused for this long, a process ends. */
  readonly idleMs: number;
  /** Failures within a minute after which none is started: failed starts, and processes that ended under a call. */
  readonly maxFailures: number;
}

/** Key of the process that a call uses. */
export interface WarmKey {
  /** The process ends with this session. */
  readonly sessionId: string;
  /** Place of the process in its session: another process in the same place takes the place of an unused one. */
  readonly place: string;
  /** Everything that the process depends on. */
  readonly state: string;
}

/** Failures count for this long. */
const FAILURE_MS = 60_000;

interface Entry<Process> extends WarmKey {
  readonly starting: Promise<Process>;
  /** Set when it has started. */
  process?: Process;
  users: number;
  timer?: NodeJS.Timeout;
}

/** Processes of one kind; none is started before its first use. */
export class WarmProcesses<Process extends WarmProcess> {
  readonly #options: WarmOptions;
  /** Least recently used first. */
  readonly #entries = new Set<Entry<Process>>();
  /** Monotonic milliseconds of recent failures, by session and place. */
  readonly #failures = new Map<string, readonly number[]>();
  #isClosed = false;

  constructor(options: WarmOptions) {
    this.#options = options;
  }

  /**
   * Do something with a process, which is started if there is none.
   *
   * @throws {GauntletError} `resource_exhausted` if too many are in use, `tool_failed` if it failed too often, and what
   *   `start` and `work` throw.
   */
  async use<Result>(
    key: WarmKey,
    start: () => Promise<Process>,
    work: (process: Process) => Promise<Result>,
  ): Promise<Result> {
    const entry = this.#find(key) ?? this.#open(key, start);
    entry.users += 1;
    clearTimeout(entry.timer);
    this.#entries.delete(entry);
    this.#entries.add(entry);
    try {
      return await work(await entry.starting);
    } catch (error) {
      if (entry.process?.isGone !== false) this.#noteFailure(key);
      throw error;
    } finally {
      entry.users -= 1;
      if (entry.users === 0 && this.#entries.has(entry)) this.#leaveUnused(entry);
    }
  }

  /** End the processes of a session. */
  async endSession(sessionId: string): Promise<void> {
    const own = [...this.#entries].filter((entry) => entry.sessionId === sessionId);
    await Promise.all(own.map((entry) => this.#end(entry)));
  }

  /** End all processes; no more are started. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#entries].map((entry) => this.#end(entry)));
  }

  #find({ sessionId, place, state }: WarmKey): Entry<Process> | undefined {
    for (const entry of this.#entries) {
      if (entry.sessionId !== sessionId || entry.place !== place || entry.state !== state) continue;
      if (entry.process?.isGone !== true) return entry;
      void this.#end(entry);
    }
    return undefined;
  }

  #open(key: WarmKey, start: () => Promise<Process>): Entry<Process> {
    if (this.#isClosed) throw new GauntletError('shutting_down', 'Cannot start a process: the server is shutting down');
    const failures = this.#failuresOf(key);
    if (failures.length >= this.#options.maxFailures) {
      const message = `Cannot start it again: it failed ${failures.length} times within a minute. Wait a minute`;
      throw new GauntletError('tool_failed', message);
    }
    this.#makeRoom(key);
    const entry: Entry<Process> = { ...key, starting: start(), users: 0 };
    this.#entries.add(entry);
    entry.starting.then(
      (process) => void (entry.process = process),
      () => this.#entries.delete(entry),
    );
    return entry;
  }

  #makeRoom(key: WarmKey): void {
    const { maxProcesses, kind } = this.#options;
    const unused = [...this.#entries].filter(({ users }) => users === 0);
    const outdated = unused.filter(({ sessionId, place }) => sessionId === key.sessionId && place === key.place);
    for (const entry of outdated) void this.#end(entry);
    if (this.#entries.size < maxProcesses) return;
    const oldest = unused.find((entry) => this.#entries.has(entry));
    if (oldest) return void this.#end(oldest);
    const message = `Cannot start another process: ${maxProcesses} ${kind} are in use. Try again when one is free`;
    throw new GauntletError('resource_exhausted', message);
  }

  #leaveUnused(entry: Entry<Process>): void {
    if (entry.process?.isGone !== false) void this.#end(entry);
    else entry.timer = setTimeout(() => void this.#end(entry), this.#options.idleMs).unref();
  }

  async #end(entry: Entry<Process>): Promise<void> {
    this.#entries.delete(entry);
    clearTimeout(entry.timer);
    // A start that failed has left nothing, and its caller was told.
    const process = await entry.starting.catch(() => undefined);
    await process?.end();
  }

  #failuresOf({ sessionId, place }: WarmKey): readonly number[] {
    const sinceMs = performance.now() - FAILURE_MS;
    return (this.#failures.get(`${sessionId}\n${place}`) ?? []).filter((time) => time > sinceMs);
  }

  #noteFailure(key: WarmKey): void {
    const nowMs = performance.now();
    for (const [other, times] of this.#failures) {
      if (!times.some((time) => time > nowMs - FAILURE_MS)) this.#failures.delete(other);
    }
    this.#failures.set(`${key.sessionId}\n${key.place}`, [...this.#failuresOf(key), nowMs]);
  }
}

/** Describe why a process could not be started, with the end of what it wrote. */
export function startFailure(what: string, error: unknown, written: string): GauntletError {
  if (error instanceof GauntletError && written === '') return error;
  const tail = written === '' ? '' : `; it wrote: ${written}`;
  return new GauntletError('tool_failed', `Cannot start ${what}: ${errorMessage(error)}${tail}`, { cause: error });
}
