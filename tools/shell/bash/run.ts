/** Implementation of Bash: runs a command line to its end. */
import { errorMessage } from '../../../src/base/errors.ts';
import { MAX_EDITED_BYTES } from '../../../src/files/file-state.ts';
import { watchFiles } from '../../../src/files/watch-files.ts';
import { paceOutput } from '../../../src/process/paced-output.ts';
import type { CommandEnd } from '../../../src/process/run-command.ts';
import type { OutputStream } from '../../../src/process/process-host.ts';
import type { ShellVerdict } from '../../../src/shell/verdict.ts';
import type { TaskEnd, TaskView } from '../../../src/tool/task.ts';
import type { ToolProgress, ToolResult, ToolUseContext } from '../../../src/tool/tool.ts';
import type { ShellToolServices } from '../services.ts';
import { outputFile, runEnclosed } from './enclosed.ts';
import { judgeEnd, wholeOutput } from './judge-end.ts';
import { lineOf, mayRunBeside } from './line.ts';
import type { BashOutput, BashProgress } from './output.ts';
import type { BashArguments } from './schema.ts';
import { shownSedEdit, writeShownSedEdit } from './sed-edit.ts';
import { shellRequest } from './shell-request.ts';
import { movedTo, nextFolder, startFolder, takeReport } from './working-directory.ts';

/** Files looked at before and after a command that may change some: the command waits for it. */
const MAX_WATCHED_FILES = 200;

type OnProgress = ((progress: ToolProgress<BashProgress>) => void) | undefined;

/**
 * Run a command to its end.
 *
 * @throws {GauntletError} `tool_failed` for an exit code that is a failure, `timeout`, `output_limit`, `cancelled`,
 * each with the output so far; `resource_exhausted` if no process can be started.
 */
export async function runBash(
  services: ShellToolServices,
  input: BashArguments,
  context: ToolUseContext,
  onProgress: OnProgress,
): Promise<ToolResult<BashOutput>> {
  if (input.run_in_background === true) {
    const { id } = await startAsTask(services, input, context, { kind: 'bash' });
    return { data: { type: 'background', taskId: id, outputPath: outputFile(context, id) } };
  }
  const shown = shownSedEdit(input);
  if (shown) return { data: await writeShownSedEdit(services, shown, context) };
  const line = lineOf(input, context.analysis);
  const { limits } = services;
  const timeoutMs = input.timeout ?? limits.commandMs;
  const start = startFolder(context.session);
  const reportChanges = await watchCommand(services, line.verdict, context, 'Bash');
  const progress = paceOutput((stream, text) => onProgress?.({ data: { type: 'bash', stream, text } }));
  let end: Awaited<ReturnType<typeof runEnclosed>>;
  let reported: string | undefined;
  try {
    end = await runEnclosed(services, input, context, {
      request: shellRequest(line, start.cwd),
      // A command that runs beside others cannot change the working directory, so no report is needed.
      ...(!mayRunBeside(line) && { onReport: async (cwdFile) => void (reported = await takeReport(cwdFile)) }),
      timeoutMs,
      signal: context.signal,
      outputPath: outputFile(context, context.toolUseId),
      onText: progress.add,
    });
  } finally {
    progress.finish();
  }

  // Also after a failure, since changes were made anyway.
  await reportChanges?.();
  const answer = judgeEnd(line.verdict, end, { timeoutMs, isHeld: context.isHeld === true });
  const next =
    reported === undefined || reported === start.cwd ? { cwd: start.cwd } : nextFolder(context.session, reported);
  const notes = [answer, start.note, next.note, end.hasSurvivors === true ? ENDED_SURVIVORS : undefined];
  return {
    data: {
      type: 'finished',
      output: end.output,
      exitCode: end.code ?? 0,
      notes: notes.filter((note) => note !== undefined),
    },
    spilled: wholeOutput(end),
    ...(next.cwd === context.session.cwd ? {} : { contextModifier: (session) => movedTo(session, next.cwd) }),
  };
}

const ENDED_SURVIVORS = 'What the command left running was ended with it; use run_in_background to keep a process';

/**
 * Record the files that a command may change: those it names, as located by the gate, and those its session has read.
 *
 * @param toolName Recorded as the writer.
 * @returns Function that reports the changes after the command has ended; undefined for read-only commands.
 */
export async function watchCommand(
  { history }: ShellToolServices,
  { isReadOnly, paths }: ShellVerdict,
  { sessionId, principal, session, located = [], changes }: ToolUseContext,
  toolName: string,
): Promise<(() => Promise<void>) | undefined> {
  if (isReadOnly) return undefined;
  const named = paths.flatMap(({ access }, index) => {
    const place = located[index];
    return place === undefined || place.refusal !== undefined || place.isSessionFile
      ? []
      : [{ access, real: place.real }];
  });
  const changesNow = await watchFiles(history, {
    sessionId,
    written: named.flatMap(({ access, real }) => (access === 'write' ? [real] : [])),
    mentioned: named.flatMap(({ access, real }) => (access === 'read' ? [real] : [])),
    known: session.readState.recent(MAX_WATCHED_FILES),
    maxFiles: MAX_WATCHED_FILES,
    hashBytes: MAX_EDITED_BYTES,
  });
  return async () => {
    const changed = await changesNow();
    if (changed.length === 0) return;
    changes.report(changed);
    for (const { path } of changed) history.writers.note(path, { sessionId, principal, toolName });
  };
}

/** Follows the output of a command that runs as a task. */
export interface OutputFollower {
  /** Ends the command when it aborts; the message of its reason says why. */
  readonly signal: AbortSignal;
  take(stream: OutputStream, text: string): void;
  /** Called when the command has ended. */
  finish(): void;
}

/** Start a command as a task of its session; the task reports its end. @throws {GauntletError} As `Tasks.start`. */
export function startAsTask(
  services: ShellToolServices,
  input: BashArguments,
  context: ToolUseContext,
  { kind, follow }: { readonly kind: string; follow?(taskId: string): OutputFollower },
): Promise<TaskView> {
  const request = shellRequest(lineOf(input, context.analysis), startFolder(context.session).cwd);
  return context.tasks.start({
    kind,
    description: input.description ?? input.command,
    outputPath: (taskId) => outputFile(context, taskId),
    run: async (task) => {
      const follower = follow?.(task.id);
      try {
        const end = await runEnclosed(services, input, context, {
          request,
          ...(input.timeout === undefined ? {} : { timeoutMs: input.timeout }),
          signal: follower ? AbortSignal.any([task.signal, follower.signal]) : task.signal,
          outputPath: outputFile(context, task.id),
          isFileKept: true,
          onText: (stream, text) => {
            task.say(text);
            follower?.take(stream, text);
          },
        });
        return taskEnd(end, follower?.signal.aborted ? errorMessage(follower.signal.reason) : undefined);
      } finally {
        follower?.finish();
      }
    },
  });
}

/** Describe the end of a background command. */
export function taskEnd({ code, stoppedBy, output }: CommandEnd, why?: string): TaskEnd {
  const note = why ?? (output.failureCode === undefined ? stoppedBy : `spill_failed: ${output.failureCode}`);
  return {
    status: code === 0 && stoppedBy === undefined ? 'completed' : 'failed',
    ...(code === null ? {} : { exitCode: code }),
    ...(note === undefined || note === 'signal' ? {} : { note: `Ended: ${note}` }),
    isOutputLost: output.path === undefined,
  };
}
