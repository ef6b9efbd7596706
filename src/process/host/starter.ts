/**
 * A program to start and the resulting process. There are two starters: `posix_spawn` and Node's.
 */
import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** Program to start as the leader of its own session and group. */
export interface Program {
  /** Path, or a name on the `PATH` of `env`. */
  readonly file: string;
  readonly args: readonly string[];
  /** Absolute path. */
  readonly cwd: string;
  /** Its complete environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Its descriptor that we write to; descriptor 0 is the null device otherwise. */
  readonly inputDescriptor: 0 | 3 | undefined;
  /** Descriptors of ours that become its next ones: from 3 on, or from 4 on if 3 is taken. */
  readonly extraDescriptors: readonly number[];
  /** Path of a launcher that binds itself and then executes this program. Only `posix_spawn` supports it. */
  readonly launcher?: string;
  /** User and group that the launcher switches to; absent: ours. */
  readonly userId?: number;
}

/** Outcome of a process. */
export interface ProcessEnd {
  /** `null` if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that was started. */
export interface StartedProcess {
  readonly pid: number;
  readonly output: { readonly stdout: Readable; readonly stderr: Readable };
  /** Stream to `inputDescriptor`; `null` if that is `undefined`. */
  readonly input: Writable | null;
  /** Resolves when it has ended; never rejects. */
  readonly exited: Promise<ProcessEnd>;
}

/** A program that could not be started, where the error follows in a later turn of the event loop. */
export interface UnstartedProcess {
  readonly pid?: undefined;
  /** Resolves with the errno error of the spawn. */
  readonly failure: Promise<NodeJS.ErrnoException>;
}

/** Starts a program. @throws The errno error of the spawn, if it is known at once. */
export type Starter = (program: Program) => StartedProcess | UnstartedProcess;

/** Start a program. @throws The errno error of the spawn, where Node throws instead of emitting it. */
export function startWithNode(program: Program): StartedProcess | UnstartedProcess {
  const { file, args, cwd, env, inputDescriptor, extraDescriptors, launcher } = program;
  if (launcher !== undefined)
    throw Object.assign(new Error('no launcher without the kernel’s own calls'), { code: 'ENOSYS' });
  const stdio: ('ignore' | 'pipe' | number)[] = ['ignore', 'pipe', 'pipe'];
  if (inputDescriptor !== undefined) stdio[inputDescriptor] = 'pipe';
  const child = spawn(file, args, { cwd, env, stdio: [...stdio, ...extraDescriptors], detached: true });
  if (child.pid === undefined) {
    return { failure: new Promise((resolve) => child.once('error', resolve)) };
  }
  child.once('error', () => undefined); // It has started; a failed signal is reported to its sender.
  return {
    pid: child.pid,
    output: { stdout: child.stdout as Readable, stderr: child.stderr as Readable },
    input: inputDescriptor === undefined ? null : (child.stdio[inputDescriptor] as Writable),
    exited: new Promise<ProcessEnd>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal }))),
  };
}
