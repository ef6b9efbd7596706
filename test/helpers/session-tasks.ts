/** Background tasks of a session whose log is a list, and that list. */
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import type { NewFrame } from '../../src/wire/frames.ts';
import type { TaskView } from '../../src/tool/task.ts';
import { readSpilledRange } from '../../src/files/spill.ts';
import { SessionTasks, type TaskLimits } from '../../src/tasks/session-tasks.ts';

/** Make them. @param logged Tasks that the log tells of already. @param landing When a start is on disk; at once. */
export function testTasks(
  limits: Partial<TaskLimits> = {},
  logged: readonly TaskView[] = [],
  landing = () => Promise.resolve(),
) {
  const frames: NewFrame[] = [];
  const log = (frame: NewFrame) => void frames.push(frame);
  const parts = {
    limits: { ...DEFAULT_LIMITS, ...limits },
    logStart: (frame: NewFrame) => {
      log(frame);
      return landing();
    },
    logOutput: log,
    logEnd: log,
    readFile: readSpilledRange,
  };
  return { tasks: new SessionTasks(parts, logged), frames };
}
