/**
 * Figures about calls, decisions and tasks, counted from the frames that sessions log anyway.
 */
import { isGauntletError } from '../base/errors.ts';
import { Counter, Histogram } from '../base/instruments.ts';
import type { NewFrame, PermissionRequestFrame, ResultFrame } from '../wire/frames.ts';
import type { LogObserver } from './observed-log.ts';

/** Buckets of durations, in seconds: a no-op takes a millisecond, a build minutes. */
const DURATION_BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800];

/** Buckets of the time until a question is answered, in seconds. */
const ANSWER_BOUNDS = [1, 5, 15, 60, 300, 1_800, 7_200, 43_200];

/** Calls whose time of acceptance is remembered; the waits of further ones are not counted. */
const MAX_WAITING = 10_000;

/** Questions whose time is remembered. */
const MAX_QUESTIONS = 10_000;

/** Parts of the metrics that only the server knows. */
export interface CallMetricsParts {
  /** Returns where a tool comes from: `built_in`, `mcp`, `plugin` or `unknown`. */
  originOf(toolName: string): string;
  /** Monotonic clock in milliseconds. */
  readonly nowMs?: () => number;
}

/** Counts what sessions do. */
export class CallMetrics implements LogObserver {
  readonly #originOf: CallMetricsParts['originOf'];
  readonly #nowMs: () => number;
  readonly #calls = new Counter('gauntlet_calls_total', 'Calls that have a result, inner calls included');
  readonly #durations = new Histogram(
    'gauntlet_call_duration_seconds',
    'Time for which calls executed, with the wait for an answer',
    DURATION_BOUNDS,
  );
  readonly #waits = new Histogram(
    'gauntlet_call_wait_seconds',
    'Time from the acceptance of a call until it executed',
    DURATION_BOUNDS,
  );
  readonly #decisions = new Counter('gauntlet_decisions_total', 'Decisions of the gate');
  readonly #answers = new Histogram(
    'gauntlet_question_answer_seconds',
    'Time until a question was settled',
    ANSWER_BOUNDS,
  );
  readonly #tasksStarted = new Counter('gauntlet_tasks_started_total', 'Background tasks that started');
  readonly #tasksEnded = new Counter('gauntlet_tasks_ended_total', 'Background tasks that ended');
  readonly #appends = new Counter('gauntlet_log_appends_total', 'Appends to the log that were committed');
  readonly #frames = new Counter('gauntlet_log_frames_total', 'Frames that were committed');
  readonly #failures = new Counter('gauntlet_log_append_failures_total', 'Appends that the disk did not take');
  /** Monotonic time of acceptance by session, then call. */
  readonly #acceptedMs = new TimeBook(MAX_WAITING);
  readonly #askedMs = new TimeBook(MAX_QUESTIONS);

  constructor({ originOf, nowMs = () => performance.now() }: CallMetricsParts) {
    this.#originOf = originOf;
    this.#nowMs = nowMs;
    this.#appends.add({}, 0);
    this.#frames.add({}, 0);
    this.#failures.add({}, 0);
  }

  recordFrames(sessionId: string, frames: readonly NewFrame[]): void {
    this.#appends.add();
    this.#frames.add({}, frames.length);
    for (const frame of frames) this.#record(sessionId, frame);
  }

  recordFailure(error: unknown): void {
    // Another process runs the session now: nothing is wrong with the disk.
    if (!isGauntletError(error, 'fenced')) this.#failures.add();
  }

  recordRemoval(sessionId: string): void {
    this.#acceptedMs.forget(sessionId);
    this.#askedMs.forget(sessionId);
  }

  /** Age of the oldest question that this process asked and that is open, in seconds; 0 if there is none. */
  get oldestQuestionSeconds(): number {
    const oldestMs = this.#askedMs.oldest;
    return oldestMs === undefined ? 0 : (this.#nowMs() - oldestMs) / 1_000;
  }

  /** Return all figures in the text format of Prometheus. */
  text(): string {
    const instruments = [
      ...[this.#calls, this.#durations, this.#waits, this.#decisions, this.#answers],
      ...[this.#tasksStarted, this.#tasksEnded, this.#appends, this.#frames, this.#failures],
    ];
    return instruments.map((instrument) => instrument.text()).join('');
  }

  #record(sessionId: string, frame: NewFrame): void {
    switch (frame.type) {
      case 'tool_use':
        this.#acceptedMs.note(sessionId, frame.tool_use.id, this.#nowMs());
        return;
      case 'state':
        if (frame.state === 'executing') this.#recordWait(sessionId, frame.tool_use_id);
        return;
      case 'result':
        this.#recordResult(sessionId, frame);
        return;
      case 'permission_request':
        if (isOwnQuestion(frame)) this.#askedMs.note(sessionId, frame.request_id, this.#nowMs());
        return;
      case 'permission_resolved':
        this.#recordAnswer(sessionId, frame.request_id, frame.behavior);
        return;
      case 'task_started':
        this.#tasksStarted.add({ kind: frame.kind });
        return;
      case 'task_ended':
        this.#tasksEnded.add({ status: frame.status });
        return;
      default:
    }
  }

  #recordWait(sessionId: string, toolUseId: string): void {
    const acceptedMs = this.#acceptedMs.take(sessionId, toolUseId);
    if (acceptedMs !== undefined) this.#waits.observe({}, (this.#nowMs() - acceptedMs) / 1_000);
  }

  #recordResult(sessionId: string, { tool_use_id, call, decision }: ResultFrame): void {
    const { name, status, error_code } = call;
    // A model may invent any number of names, those of MCP tools too.
    const origin = error_code === 'unknown_tool' ? 'unknown' : this.#originOf(name);
    const tool = origin === 'unknown' ? 'unknown' : name;
    this.#acceptedMs.take(sessionId, tool_use_id);
    this.#calls.add({ tool, origin, status });
    this.#durations.observe({ tool }, call.duration_ms / 1_000);
    if (decision) this.#decisions.add({ behavior: decision.behavior, reason: decision.reason.type });
  }

  #recordAnswer(sessionId: string, requestId: string, behavior: string): void {
    const askedMs = this.#askedMs.take(sessionId, requestId);
    if (askedMs !== undefined) this.#answers.observe({ behavior }, (this.#nowMs() - askedMs) / 1_000);
  }
}

/** Report whether the session itself asks, not a child of it, whose log has the question too. */
function isOwnQuestion({ session_id }: PermissionRequestFrame): boolean {
  return session_id === undefined;
}

/** Times by session and id, bounded in number. */
class TimeBook {
  readonly #most: number;
  readonly #times = new Map<string, Map<string, number>>();
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  note(sessionId: string, id: string, timeMs: number): void {
    if (this.#count >= this.#most) return;
    const times = this.#times.get(sessionId) ?? new Map<string, number>();
    this.#times.set(sessionId, times);
    if (!times.has(id)) this.#count++;
    times.set(id, timeMs);
  }

  take(sessionId: string, id: string): number | undefined {
    const times = this.#times.get(sessionId);
    const timeMs = times?.get(id);
    if (times === undefined || timeMs === undefined) return undefined;
    times.delete(id);
    this.#count--;
    if (times.size === 0) this.#times.delete(sessionId);
    return timeMs;
  }

  get oldest(): number | undefined {
    let oldest: number | undefined;
    for (const times of this.#times.values()) {
      for (const timeMs of times.values()) if (oldest === undefined || timeMs < oldest) oldest = timeMs;
    }
    return oldest;
  }

  forget(sessionId: string): void {
    this.#count -= this.#times.get(sessionId)?.size ?? 0;
    this.#times.delete(sessionId);
  }
}
