/** Runs a command line in its environment: the jail, the sandbox, or unconfined. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { callFileName } from '../../../src/files/spill.ts';
import type { CallHold, ToolUseContext } from '../../../src/tool/tool.ts';
import { sessionPlace } from '../../../src/process/jail/session-place.ts';
import type { SpawnRequest } from '../../../src/process/process-host.ts';
import { type CommandEnd, type CommandRun, runCommand } from '../../../src/process/run-command.ts';
import type { Sandbox, SandboxPlace } from '../../../src/process/sandbox.ts';
import type { ShellToolServices } from '../services.ts';
import type { BashArguments } from './schema.ts';

/** Report whether this command runs in the sandbox. */
export function isSandboxed(sandbox: Sandbox | undefined, input: BashArguments): sandbox is Sandbox {
  return sandbox !== undefined && (sandbox.isRequired || input.dangerouslyDisableSandbox !== true);
}

/**
 * Return the folder for reports of the final working directory, the only part of the session's folder that a sandbox
 * may write.
 */
function reportFolder({ sessionFolder }: ToolUseContext): string {
  return join(sessionFolder, 'reports');
}

/** Return the file in which this call's command reports its final working directory. */
function reportFile(context: ToolUseContext): string {
  return join(reportFolder(context), callFileName(context.toolUseId));
}

/** Return the file for an output too long for memory. @param id Id of the call or the task. */
export function outputFile({ sessionFolder }: ToolUseContext, id: string): string {
  return join(sessionFolder, `${callFileName(id)}.output`);
}

/** Prepare the confinement of a command that is allowed because it only reads. */
export async function prepareHold({ jail }: ShellToolServices, context: ToolUseContext): Promise<CallHold> {
  return jail === undefined ? { kind: 'words' } : jail.prepare(sessionPlace(context));
}

/** Parameters of a run, without those of its environment. */
export interface EnclosedRun extends Omit<CommandRun, 'request'> {
  /** Command, working directory and environment variables. */
  readonly request: Omit<SpawnRequest, 'cwdFile'>;
  /** Receives the file in which the shell reports its final working directory; absent if that is not needed. */
  readonly onReport?: (cwdFile: string) => Promise<void>;
}

/**
 * Run a command to its end: in the jail if it was allowed unasked, else in the sandbox if there is one, else unconfined
 * or, if so configured, in a jail with writable working directories.
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
