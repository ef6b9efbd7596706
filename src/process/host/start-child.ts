/**
 * Start one child in a session and group of its own, with a marker and an allow-listed environment.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import type { Writable } from 'node:stream';
import { MARKER_VARIABLE } from './settings.ts';
import type { SpawnMessage } from './messages.ts';
import { WAITING_SHELL } from './shell.ts';

/** A child that has just been started. */
export interface StartedChild {
  readonly process: ChildProcess;
  /** Absent when it could not be started: then `process` emits `error` next. */
  readonly pid: number | undefined;
  readonly marker: string;
  /** From `performance.now()`. */
  readonly startedMs: number;
  /** Its stdin; of a shell, the way its script comes. */
  readonly input: Writable | null;
}

/** Start a program. @throws The errno error of the spawn, where Node throws and does not emit it. */
export function startProgram(message: SpawnMessage, marker: string): StartedChild {
  const { file, args, cwd, env, hasStdin } = message;
  return start({ file, args, cwd, env, stdio: [hasStdin ? 'pipe' : 'ignore', 'pipe', 'pipe'] }, marker, 0);
}

/** Start a shell that waits for its order on descriptor 3. @throws As `startProgram`. */
export function startShell(marker: string): StartedChild {
  return start({ ...WAITING_SHELL, cwd: '/', env: {}, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] }, marker, 3);
}

interface Start extends Pick<SpawnMessage, 'file' | 'args' | 'cwd' | 'env'> {
  readonly stdio: StdioOptions;
}

function start({ file, args, cwd, env, stdio }: Start, marker: string, inputDescriptor: 0 | 3): StartedChild {
  const child = spawn(file, args, {
    cwd,
    // The host itself was given only what children may have.
    env: { ...process.env, ...env, [MARKER_VARIABLE]: marker },
    stdio,
    detached: true,
  });
  // Without descriptors (EMFILE) Node gives up before there are any pipes, whatever its types say.
  const pipes = child.stdio as ChildProcess['stdio'] | undefined;
  const input = (pipes?.[inputDescriptor] ?? null) as Writable | null;
  // A child that ends without reading breaks its pipe; how it ended is told by its exit.
  input?.on('error', () => input.destroy());
  return { process: child, pid: child.pid, marker, startedMs: performance.now(), input };
}
