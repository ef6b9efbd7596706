/** Runs a command line to its end. */
import type { ToolProgress, ToolResult, ToolUseContext } from '../../../src/tool/tool.ts';
import { paceOutput } from '../../../src/process/paced-output.ts';
import type { ShellToolServices } from '../services.ts';
import { startInBackground } from './background.ts';
import { outputFile, runEnclosed } from './enclosed.ts';
import { judgeEnd, wholeOutput } from './judge-end.ts';
import type { BashOutput, BashProgress } from './output.ts';
import type { BashArguments } from './schema.ts';
import { lineOf, mayRunBeside } from './line.ts';
import { shownSedEdit, writeShownSedEdit } from './sed-edit.ts';
import { shellRequest } from './shell-request.ts';
import { watchCommand } from './watch.ts';
import { movedTo, nextFolder, startFolder, takeReport } from './working-directory.ts';

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
  if (input.run_in_background === true) return { data: await startInBackground(services, input, context) };
  const shown = shownSedEdit(input);
  if (shown) return { data: await writeShownSedEdit(services, shown, context) };
  const line = lineOf(input, context.analysis);
  const { limits } = services;
  const timeoutMs = input.timeout ?? limits.commandMs;
  const start = startFolder(context.session);
  const reportChanges = await watchCommand(services, line.verdict, context);
  const progress = paceOutput(limits, (stream, text) => onProgress?.({ data: { type: 'bash', stream, text } }));
  let end: Awaited<ReturnType<typeof runEnclosed>>;
  let reported: string | undefined;
  try {
    end = await runEnclosed(services, input, context, {
      request: shellRequest(line, start.cwd),
      // What runs beside others stays where it is, and need not be asked.
      ...(!mayRunBeside(line) && { onReport: async (cwdFile) => void (reported = await takeReport(cwdFile)) }),
      timeoutMs,
      signal: context.signal,
      outputPath: outputFile(context, context.toolUseId),
      onText: progress.add,
    });
  } finally {
    progress.finish();
  }

  // However it ended: what it did is done.
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
