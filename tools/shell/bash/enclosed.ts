/** Runs a command line where it belongs: in the jail, in the sandbox, or as any program. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CallHold, ToolUseContext } from '../../../src/tool/tool.ts';
import { sessionPlace } from '../../../src/process/jail/session-place.ts';
import type { SpawnRequest } from '../../../src/process/process-host.ts';
import { type CommandEnd, type CommandRun, runCommand } from '../../../src/process/run-command.ts';
import type { Sandbox, SandboxPlace } from '../../../src/process/sandbox.ts';
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
function reportFile(context: ToolUseContext): string {
  return join(reportFolder(context), context.toolUseId);
}

/** Where an output too long for memory is written. @param id Of the call or the task. */
export function outputFile({ sessionFolder }: ToolUseContext, id: string): string {
  return join(sessionFolder, `${id}.output`);
}

/** Get ready what holds a command that passes because it only reads. */
export async function prepareHold({ jail }: ShellToolServices, context: ToolUseContext): Promise<CallHold> {
  return jail === undefined ? { kind: 'words' } : jail.prepare(sessionPlace(context));
}

/** How a command is to run, but for where. */
export interface EnclosedRun extends Omit<CommandRun, 'request'> {
  /** The working directory, and what it may know of its surroundings. */
  readonly request: Omit<SpawnRequest, 'cwdFile'>;
  /** Told where the shell reports the folder it ended in; absent: nobody wants to know. */
  readonly onReport?: (cwdFile: string) => Promise<void>;
}

/**
 * Run a command to its end: in the jail where it passed unasked, else in the sandbox where there is one, else as any
 * program or, where the operator wants it, in a jail whose working directories may be changed.
 *
 * @throws {GauntletError} As `runCommand`, `Jail.within` and `Sandbox.within`.
 */
export async function runEnclosed(
  services: ShellToolServices,
  input: BashArguments,
  context: ToolUseContext,
  run: EnclosedRun,
): Promise<CommandEnd> {
  const { processHost, limits, sandbox, jail } = services;
  const { request, onReport, ...rest } = run;
  const start = (changes: Partial<SpawnRequest>) =>
    runCommand(processHost, limits, { ...rest, request: { ...request, ...changes } });
  const isOutside = input.dangerouslyDisableSandbox === true;

  if (jail && (context.isHeld === true || (jail.scope === 'all' && !isOutside && !isSandboxed(sandbox, input)))) {
    return jail.within(sessionPlace(context), context.isHeld !== true, async ({ request: held, temporaryFolder }) => {
      const cwdFile = onReport && join(temporaryFolder, 'cwd');
      const end = await start({ ...held, env: { ...request.env, ...held.env }, cwdFile });
      if (cwdFile !== undefined) await onReport?.(cwdFile);
      return end;
    });
  }
  const cwdFile = onReport && reportFile(context);
  if (cwdFile !== undefined) await mkdir(dirname(cwdFile), { recursive: true, mode: 0o700 });
  const end = isSandboxed(sandbox, input)
    ? await sandbox.within(sandboxPlace(context), (launcher) => start({ launcher, cwdFile }))
    : await start({ cwdFile });
  if (cwdFile !== undefined) await onReport?.(cwdFile);
  return end;
}

function sandboxPlace(context: ToolUseContext): SandboxPlace {
  const { session, sessionFolder } = context;
  const folders = [session.root, ...session.permissions.additionalDirectories];
  return { folders, sessionFolder, reportFolder: reportFolder(context) };
}
