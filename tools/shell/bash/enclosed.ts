/** Runs a command line where it belongs: in the sandbox, where there is one. */
import { join } from 'node:path';
import type { ToolUseContext } from '../../../src/contract/tool.ts';
import { runCommand } from '../../../src/process/run-command.ts';
import type { CommandEnd, CommandRun } from '../../../src/process/run-command.ts';
import type { Sandbox } from '../../../src/process/sandbox.ts';
import type { ShellToolServices } from '../services.ts';
import type { BashArguments } from './schema.ts';

/** Whether this command runs in the sandbox. */
export function isSandboxed(sandbox: Sandbox | undefined, input: BashArguments): sandbox is Sandbox {
  return sandbox !== undefined && (sandbox.isRequired || input.dangerouslyDisableSandbox !== true);
}

/** Where commands of this session report the folder they ended in: all of the session's folder that a sandbox may write. */
function reportFolder({ sessionFolder }: ToolUseContext): string {
  return join(sessionFolder, 'reports');
}

/** Where the command of this call reports the folder it ended in. */
export function reportFile(context: ToolUseContext): string {
  return join(reportFolder(context), context.toolUseId);
}

/** Where an output too long for memory is written. @param id Of the call or the task. */
export function outputFile({ sessionFolder }: ToolUseContext, id: string): string {
  return join(sessionFolder, `${id}.output`);
}

/** Run a command to its end. @throws {GauntletError} As `runCommand` and `Sandbox.within`. */
export function runEnclosed(
  { processHost, limits, sandbox }: ShellToolServices,
  input: BashArguments,
  context: ToolUseContext,
  run: CommandRun,
): Promise<CommandEnd> {
  if (!isSandboxed(sandbox, input)) return runCommand(processHost, limits, run);
  const { session, sessionFolder } = context;
  const folders = [session.root, ...session.permissions.additionalDirectories];
  return sandbox.within({ folders, sessionFolder, reportFolder: reportFolder(context) }, (launcher) =>
    runCommand(processHost, limits, { ...run, request: { ...run.request, launcher } }),
  );
}
