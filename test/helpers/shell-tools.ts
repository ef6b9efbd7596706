/** Bash and its neighbours on a real process host, for the tests of one file. */
import { existsSync } from 'node:fs';
import { DEFAULT_LIMITS, type Limits } from '../../config/limits.ts';
import { resultText } from '../../src/wire/result-text.ts';
import type { ToolProgress, ToolUseContext } from '../../src/tool/tool.ts';
import { bashTool } from '../../tools/shell/bash/index.ts';
import type { BashProgress } from '../../tools/shell/bash/output.ts';
import { taskOutputTool } from '../../tools/tasks/task-output.ts';
import { taskStopTool } from '../../tools/tasks/task-stop.ts';
import { fileServices } from './file-services.ts';
import { processesWith, testProcessHost } from './process-host.ts';
import { testTasks } from './session-tasks.ts';
import { allowEverything, callTasks, parentMessage, toolUseContextIn } from './tool-use-context.ts';

/** Make the tools, and run them in `root`. Call it where hooks may be set: at the top of a `describe`. */
export function shellToolsIn(root: string, changes: Partial<Limits> = {}) {
  const limits: Limits = { ...DEFAULT_LIMITS, ...changes };
  const processHost = testProcessHost(limits);
  const services = { ...fileServices(changes), processHost };
  const { tasks } = testTasks(limits);
  const tools = { bash: bashTool(services), taskOutput: taskOutputTool(services), taskStop: taskStopTool() };
  let calls = 0;

  function context(more: Partial<ToolUseContext> = {}): ToolUseContext {
    return toolUseContextIn(root, { toolUseId: `call-${(calls += 1)}`, tasks: callTasks(tasks), ...more });
  }

  async function bash(input: Record<string, unknown>, more: Partial<ToolUseContext> = {}, internal: object = {}) {
    const progress: ToolProgress<BashProgress>[] = [];
    const parsed = tools.bash.inputSchema.parse(input);
    const used = context(more);
    const result = await tools.bash.call({ ...parsed, ...internal }, used, allowEverything, parentMessage, (piece) =>
      progress.push(piece),
    );
    const text = resultText(tools.bash.mapToolResultToToolResultBlockParam(result.data, used.toolUseId).content);
    return { ...result, text, progress, session: result.contextModifier?.(used.session) ?? used.session };
  }

  /** What Bash throws. @throws {Error} when it throws nothing. */
  async function bashError(input: Record<string, unknown>, more: Partial<ToolUseContext> = {}): Promise<unknown> {
    const { text } = await bash(input, more).catch((error: unknown) => ({ text: { error } }));
    if (typeof text === 'string') throw new Error(`No error, but: ${text}`);
    return text.error;
  }

  /** Children of this host that carry its marker, warm shells that wait for work left out. */
  function survivors(): number[] {
    return processesWith(`GAUNTLET_CALL_ID=${processHost.ownerId}.`).filter((pid) => !existsSync(`/proc/${pid}/fd/3`));
  }

  return { ...services, ...tools, tools, tasks, context, run: bash, error: bashError, survivors };
}
