/** Runs a command line: to its end, or on in the background. */
import { join } from 'node:path';
import { GauntletError } from '../../../src/contract/errors.ts';
import type { ToolProgress, ToolResult, ToolUseContext } from '../../../src/contract/tool.ts';
import { outputText } from '../../../src/process/output-text.ts';
import { paceOutput } from '../../../src/process/paced-output.ts';
import type { OutputStream } from '../../../src/process/process-host.ts';
import { runCommand } from '../../../src/process/run-command.ts';
import type { CommandEnd } from '../../../src/process/run-command.ts';
import type { ShellToolServices } from '../services.ts';
import { exitAnswer } from './exit-codes.ts';
import type { BashOutput } from './output.ts';
import { isReadOnlyCommand, mayRunBeside, READ_ONLY_ENVIRONMENT } from './read-only.ts';
import type { BashArguments } from './schema.ts';
import { nextFolder, prepareReport, startFolder, takeReport } from './working-directory.ts';

/** What is new of a running command. */
export interface BashProgress {
  readonly type: 'bash';
  readonly stream: OutputStream;
  readonly text: string;
}

type OnProgress = ((progress: ToolProgress<BashProgress>) => void) | undefined;

/**
 * Run a command to its end.
 *
 * @throws {GauntletError} `tool_failed` for an exit code that is a failure, `timeout`, `output_limit`,
 *   `cancelled`, each with the output so far; `resource_exhausted` when no process can be started.
 */
export async function runBash(
  services: ShellToolServices,
  input: BashArguments,
  context: ToolUseContext,
  onProgress: OnProgress,
): Promise<ToolResult<BashOutput>> {
  if (input.run_in_background === true) return { data: startInBackground(services, input, context) };
  const { limits, processHost } = services;
  const timeoutMs = input.timeout ?? limits.commandMs;
  const start = startFolder(context.session);
  // What runs beside others stays where it is, and need not be asked where it ended.
  const cwdFile = mayRunBeside(input.command) ? undefined : join(context.sessionFolder, `${context.toolUseId}.cwd`);
  if (cwdFile !== undefined) await prepareReport(cwdFile);

  const progress = paceOutput(limits, (stream, text) => onProgress?.({ data: { type: 'bash', stream, text } }));
  let end: CommandEnd;
  try {
    end = await runCommand(processHost, limits, {
      request: { ...shellRequest(input, start.cwd), cwdFile },
      timeoutMs,
      signal: context.signal,
      outputPath: join(context.sessionFolder, `${context.toolUseId}.output`),
      onText: progress.add,
    });
  } finally {
    progress.finish();
  }

  const reported = cwdFile === undefined ? undefined : await takeReport(cwdFile);
  const answer = judgeEnd(input.command, end, timeoutMs);
  const next = reported === undefined || reported === start.cwd ? { cwd: start.cwd } : nextFolder(context.session, reported);
  const notes = [answer, start.note, next.note, end.hasSurvivors === true ? ENDED_SURVIVORS : undefined];
  return {
    data: { type: 'finished', output: end.output, exitCode: end.code ?? 0, notes: notes.filter((note) => note !== undefined) },
    ...(next.cwd === context.session.cwd
      ? {}
      : { contextModifier: (session) => Object.freeze({ ...session, version: session.version + 1, cwd: next.cwd }) }),
  };
}

const ENDED_SURVIVORS = 'What the command left running was ended with it; use run_in_background to keep a process';

function shellRequest(input: BashArguments, cwd: string) {
  const env = isReadOnlyCommand(input.command) ? READ_ONLY_ENVIRONMENT : {};
  return { file: 'bash', args: [], shellScript: input.command, cwd, env };
}

/** What the end says where it is no failure. @throws {GauntletError} where it is one. */
function judgeEnd(command: string, end: CommandEnd, timeoutMs: number): string | undefined {
  const fail = (code: 'tool_failed' | 'timeout' | 'output_limit' | 'cancelled', cause: string) => {
    throw new GauntletError(code, [cause, outputText(end.output)].filter(Boolean).join('\n'));
  };
  switch (end.stoppedBy) {
    case 'timeout':
      return fail('timeout', `The command was ended after ${timeoutMs} ms. Give it a longer timeout, or run it in the background`);
    case 'output_limit':
      return fail('output_limit', `The command was ended: it wrote more than ${end.output.totalChars} characters. Let it write less`);
    case 'signal':
      return fail('cancelled', 'The command was cancelled');
    case undefined:
  }
  if (end.code === null) return fail('tool_failed', `The command was ended by signal ${end.signal ?? 'unknown'}`);
  if (end.code === 0) return undefined;
  const answer = exitAnswer(command, end.code);
  return answer === undefined ? fail('tool_failed', `Exit code ${end.code}`) : `Exit code ${end.code}: ${answer}`;
}

/** Start a command that outlives its call; its task tells how it ended. */
function startInBackground(services: ShellToolServices, input: BashArguments, context: ToolUseContext): BashOutput {
  const { backgroundTasks, limits, processHost } = services;
  const pathOf = (taskId: string) => join(context.sessionFolder, `${taskId}.output`);
  const { id } = backgroundTasks.start({
    sessionId: context.sessionId,
    kind: 'bash',
    description: input.description ?? input.command,
    async run(task) {
      const end = await runCommand(processHost, limits, {
        request: shellRequest(input, startFolder(context.session).cwd),
        ...(input.timeout === undefined ? {} : { timeoutMs: input.timeout }),
        signal: task.signal,
        outputPath: pathOf(task.id),
        isFileKept: true,
        onText: (_stream, text) => task.say(text),
      });
      return {
        status: end.code === 0 && end.stoppedBy === undefined ? 'completed' : 'failed',
        ...(end.code === null ? {} : { exitCode: end.code }),
        ...(end.stoppedBy === undefined || end.stoppedBy === 'signal' ? {} : { note: `Ended: ${end.stoppedBy}` }),
        ...(end.output.path === undefined ? {} : { outputPath: end.output.path }),
      };
    },
  });
  return { type: 'background', taskId: id, outputPath: pathOf(id) };
}
