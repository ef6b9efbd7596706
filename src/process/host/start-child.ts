/**
 * Start one child in a session and group of its own, with a marker and an allow-listed environment.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { devNull } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { openRegular } from '../../files/open-checked.ts';
import type { ShellLauncher } from '../process-host.ts';
import type { SpawnMessage } from './messages.ts';
import { closePipe } from './pipe-supply.ts';
import type { Pipe, PipeSupply } from './pipe-supply.ts';
import { MARKER_VARIABLE } from './settings.ts';
import { WAITING_SHELL } from './shell.ts';

/** A child that has just been started. */
export interface StartedChild {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly marker: string;
  readonly output: { readonly stdout: Readable; readonly stderr: Readable };
  /** Its stdin; of a shell, the way its script comes. */
  readonly input: Writable | null;
}

/** A child that could not be started. */
export interface UnstartedChild {
  /** Emits `error` next. */
  readonly process: ChildProcess;
  readonly pid?: undefined;
}

/** Start a program. @throws The errno error of the spawn, where Node throws and does not emit it. */
export function startProgram(message: SpawnMessage, marker: string, pipes: PipeSupply): StartedChild | UnstartedChild {
  const { hasStdin, files = [] } = message;
  return withOpen(files, openGiven, (more) =>
    start({ ...message, inputDescriptor: hasStdin ? 0 : undefined, more }, marker, pipes),
  );
}

/**
 * Start a shell that waits for its order on descriptor 3.
 *
 * @param launcher Starts it in its stead. @throws As `startProgram`.
 */
export function startShell(marker: string, pipes: PipeSupply, launcher?: ShellLauncher): StartedChild | UnstartedChild {
  const { command = [], files = [] } = launcher ?? {};
  const [file = WAITING_SHELL.file, ...args] = [...command, WAITING_SHELL.file, ...WAITING_SHELL.args];
  return withOpen(
    files,
    (path) => openSync(path, 'r'),
    (more) => start({ file, args, cwd: '/', env: {}, inputDescriptor: 3, more }, marker, pipes),
  );
}

/** Our copies are closed when the child has its own, or when there is none. */
function withOpen<Result>(
  paths: readonly string[],
  open: (path: string) => number,
  work: (descriptors: readonly number[]) => Result,
): Result {
  const opened: number[] = [];
  try {
    for (const path of paths) opened.push(open(path));
    return work(opened);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** The file itself; nothing to read where it cannot be had, so that the others keep their numbers. */
function openGiven(path: string): number {
  try {
    return openRegular(path, path).descriptor;
  } catch {
    // It was moved, replaced or removed: whoever named it finds nothing there. A shortage stops this open as well.
    return openSync(devNull, constants.O_RDONLY);
  }
}

interface Start extends Pick<SpawnMessage, 'file' | 'args' | 'cwd' | 'env'> {
  /** Which of its descriptors we write to. */
  readonly inputDescriptor: 0 | 3 | undefined;
  /** Of ours, behind those: its own from 3 on, or from 4 on where 3 is taken. */
  readonly more?: readonly number[];
}

function start(
  { file, args, cwd, env, inputDescriptor, more = [] }: Start,
  marker: string,
  supply: PipeSupply,
): StartedChild | UnstartedChild {
  const pipes = {
    stdout: supply.take(),
    stderr: supply.take(),
    input: inputDescriptor === undefined ? undefined : supply.take(),
  };
  const stdio: ('ignore' | 'pipe' | number)[] = [
    'ignore',
    pipes.stdout?.writer ?? 'pipe',
    pipes.stderr?.writer ?? 'pipe',
  ];
  if (inputDescriptor !== undefined) stdio[inputDescriptor] = pipes.input?.reader ?? 'pipe';

  stdio.push(...more);

  let child: ChildProcess;
  try {
    child = spawn(file, args, {
      cwd,
      // The host itself was given only what children may have.
      env: { ...process.env, ...env, [MARKER_VARIABLE]: marker },
      stdio,
      detached: true,
    });
  } catch (error) {
    closeAll(Object.values(pipes));
    throw error;
  }
  if (child.pid === undefined) {
    closeAll(Object.values(pipes));
    return { process: child };
  }
  const output = {
    stdout: readEnd(pipes.stdout) ?? (child.stdout as Readable),
    stderr: readEnd(pipes.stderr) ?? (child.stderr as Readable),
  };
  const input =
    inputDescriptor === undefined ? null : (writeEnd(pipes.input) ?? (child.stdio[inputDescriptor] as Writable));
  // A child that ends without reading breaks its pipe; how it ended is told by its exit.
  input?.on('error', () => input.destroy());
  return { process: child, pid: child.pid, marker, output, input };
}

/** Our end of a pipe whose other end the child has by now. */
function readEnd(pipe: Pipe | undefined): Readable | undefined {
  if (pipe === undefined) return undefined;
  closeSync(pipe.writer);
  return new Socket({ fd: pipe.reader, readable: true, writable: false });
}

function writeEnd(pipe: Pipe | undefined): Writable | undefined {
  if (pipe === undefined) return undefined;
  closeSync(pipe.reader);
  return new Socket({ fd: pipe.writer, readable: false, writable: true });
}

function closeAll(pipes: readonly (Pipe | undefined)[]): void {
  for (const pipe of pipes) if (pipe !== undefined) closePipe(pipe);
}
