/**
 * Runs scheduled prompts: each is a call of Agent, as a turn of the session that made the schedule, or of a session that
 * takes its place when that is gone.
 */
import type { Settings } from '../config/settings.ts';
import { OWNER } from '../config/settings/principals.ts';
import { GauntletError, isGauntletError } from '../src/base/errors.ts';
import type { Session } from '../src/session/session.ts';
import type { SessionDirectory } from '../src/session/directory/session-directory.ts';
import type { DueRun, RunPrompt, Schedule, Schedules } from '../src/tasks/schedules.ts';
import { AGENT_TOOL } from '../tools/index.ts';

/** The schedules of a server, from its start to its end. */
export interface ScheduledRuns {
  /** Load the schedules of all principals, and run what is due. */
  start(): void;
  /** Begin no more runs, and let what runs finish, as `SessionDirectory.drain`. */
  drain(signal: AbortSignal): Promise<void>;
  /** Wait no longer for runs; their sessions end them. */
  close(): void;
}

/** Connect the schedules with the sessions in which they run. */
export function createScheduledRuns(
  { principals }: Pick<Settings, 'principals'>,
  { schedules, directory, onFault }: ScheduledParts,
): ScheduledRuns {
  const closing = new AbortController();
  return {
    start() {
      const names = [OWNER, ...principals.map(({ name }) => name)];
      schedules
        .start(names, createRun(directory, closing.signal))
        .catch((error: unknown) => onFault(error, 'The schedules could not be loaded'));
    },
    drain(signal) {
      schedules.close();
      return directory.drain(signal);
    },
    close: () => closing.abort(),
  };
}

interface ScheduledParts {
  readonly schedules: Schedules;
  readonly directory: Pick<SessionDirectory, 'open' | 'create' | 'drain'>;
  onFault(error: unknown, what: string): void;
}

/** Create the function that runs a prompt. @param signal Aborted when the server ends. */
function createRun(directory: ScheduledParts['directory'], signal: AbortSignal): RunPrompt {
  return async (principal, schedule, due) => {
    const session = await sessionFor(directory, principal, schedule);
    const { runId } = due;
    const block = { type: 'tool_use', id: runId, name: AGENT_TOOL, input: inputOf(schedule, due) } as const;
    try {
      const turn = await session.submit({ turnId: runId, blocks: [block] });
      await session.collect(turn, signal);
    } catch (error) {
      if (signal.aborted)
        throw new GauntletError('shutting_down', 'The server stopped before the run ended', { cause: error });
      throw error;
    }
    return session.id;
  };
}

async function sessionFor(
  directory: ScheduledParts['directory'],
  principal: string,
  { id, sessionId, cwd, atMost, durable }: Schedule,
): Promise<Session> {
  try {
    return await directory.open(principal, sessionId);
  } catch (error) {
    // A schedule that is not durable ends with its session.
    if (!durable || !isGauntletError(error, 'not_found')) throw error;
    return directory.create(principal, { ...atMost, cwd, title: `Schedule ${id}` });
  }
}

/** The same for the same run: one that a crash cut off is recognised by it. */
function inputOf({ id, cron, prompt }: Schedule, { dueAt, isMissed }: DueRun) {
  const when = isMissed ? `was due at ${dueAt}, while the server did not run, and runs now` : `was due at ${dueAt}`;
  return { description: `Schedule ${id} (${cron})`, prompt: `${prompt}\n\n(This scheduled run ${when}.)` };
}
