/** Monitor: watches a command's output, each line of which becomes a notice. */
import * as z from 'zod';
import { showText, showValue } from '../../src/base/hidden-characters.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import type { ToolUseContext } from '../../src/tool/tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { bashTool } from './bash/index.ts';
import { startAsTask } from './bash/run.ts';
import type { BashArguments } from './bash/schema.ts';
import { followLines } from './followed-lines.ts';
import type { ShellToolServices } from './services.ts';

/** How long a command is watched when its call does not say. */
const WATCH_MS = 5 * 60_000;

/** The longest that it may say; `persistent` has no end. */
const MAX_WATCH_MS = 60 * 60_000;

const MAX_DESCRIPTION_CHARS = 200;

const PROMPT = `Watches something while you go on: runs a command in the background, and each line that it prints is a notice to whoever watches this session.

Use it for events that come one by one: errors in a log, a deployment that changes its state, a file that appears. To wait once for one thing, run Bash in the background with a command that ends then.

- The command answers at once with a task_id: TaskOutput shows you the lines, TaskStop ends it
- Print only what matters, a line at a time, such as \`tail -f app.log | grep --line-buffered ERROR\`. Lines that come fast are folded together, and a command that floods is ended
- Print what says that it failed too: silence looks like "nothing happened yet"
- Only standard output makes notices; errors stand in the output of the task
- It is held by the same rules, sandbox and questions as Bash`;

const MonitorInput = z.strictObject({
  description: z
    .string()
    .min(1)
    .max(MAX_DESCRIPTION_CHARS)
    .describe('What is watched, in a few words that stand on each notice, as in "errors in the deploy log"'),
  command: z.string().min(1).describe('The command line, which prints a line for each event'),
  timeout_ms: z
    .int()
    .min(1)
    .max(MAX_WATCH_MS)
    .optional()
    .describe(`How long to watch, in milliseconds: ${WATCH_MS} by default, at most ${MAX_WATCH_MS}`),
  persistent: z
    .boolean()
    .optional()
    .describe('Watch until TaskStop or the end of the session; there is no timeout then'),
});

/** A parsed input. */
export type MonitorArguments = z.output<typeof MonitorInput>;

/** Make Monitor. */
export function monitorTool(services: ShellToolServices) {
  const bash = bashTool(services);
  return buildTool({
    name: 'Monitor',
    searchHint: 'watch a command and tell each line',
    shouldDefer: true,
    // It runs what Bash runs, so that all that is said of an input is what Bash says.
    rulesOf: [bash.name],
    inputSchema: MonitorInput,
    maxResultSizeChars: 10_000,
    prompt: () => PROMPT,
    description: (input) => `Watch ${input.description}`,
    validateInput: ({ persistent, timeout_ms }) =>
      persistent === true && timeout_ms !== undefined
        ? { result: false, message: '"persistent" watches without a timeout: leave out "timeout_ms" or "persistent"' }
        : { result: true },
    analyse: (input) => bash.analyse(commandOf(input)),
    isReadOnly: (input, analysis?: unknown) => bash.isReadOnly(commandOf(input), analysis),
    isDestructive: (input, analysis?: unknown) => bash.isDestructive(commandOf(input), analysis),
    warnings: (input, analysis?: unknown) => bash.warnings(commandOf(input), analysis),
    paths: (input, analysis?: unknown) => bash.paths(commandOf(input), analysis),
    preparePermissionMatcher: (input, session, analysis?: unknown) =>
      bash.preparePermissionMatcher(commandOf(input), session, analysis),
    checkPermissions: (input, context) => bash.checkPermissions(commandOf(input), context),
    isContained: (input) => bash.isContained(commandOf(input)),
    prepareHold: (input, context) => bash.prepareHold(commandOf(input), context),
    suggestRules: (input, analysis?: unknown) => bash.suggestRules(commandOf(input), analysis),
    toAutoClassifierInput: (input) => input.command,
    call: async (input, context) => ({ data: await watch(services, input, context) }),
    mapToolResultToToolResultBlockParam: ({ taskId, outputPath }: MonitorOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: `Watching as task ${taskId}. TaskOutput shows what is new, TaskStop ends it. The whole output is written to: ${outputPath}`,
    }),
    getToolUseSummary: ({ description }) => description ?? '',
    getActivityDescription: ({ description }) => `Watching ${description ?? ''}`,
    renderToolUseMessage: renderMonitor,
    renderToolResultMessage: ({ taskId }: MonitorOutput): Display => ({
      title: `Watching as task ${taskId}`,
      tone: 'info',
      blocks: [],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Not watched', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not watch', message),
  });
}

/** The task that watches. */
export interface MonitorOutput {
  readonly taskId: string;
  readonly outputPath: string;
}

/** The same as an input of Bash. */
function commandOf({ command, description, persistent, timeout_ms }: MonitorArguments): BashArguments {
  const timeout = persistent === true ? {} : { timeout: timeout_ms ?? WATCH_MS };
  return { command, description, run_in_background: true, ...timeout };
}

async function watch(
  services: ShellToolServices,
  input: MonitorArguments,
  context: ToolUseContext,
): Promise<MonitorOutput> {
  const { id, outputPath = '' } = await startAsTask(services, commandOf(input), context, {
    kind: 'monitor',
    follow: (taskId) => {
      const head = `${taskId}, ${showText(input.description)}:`;
      return followLines((text) => context.notify('info', 'monitor', `${head}\n${text}`));
    },
  });
  return { taskId: id, outputPath };
}

function renderMonitor({ command, description }: Partial<MonitorArguments>): Display {
  return {
    title: 'Monitor',
    ...(typeof description === 'string' && { subtitle: showText(description) }),
    blocks: [{ kind: 'code', text: showValue(command, '…'), language: 'bash' }],
  };
}
