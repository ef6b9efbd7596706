/**
 * A program as it is started, and the process that comes of it. There are two ways: the kernel's own, and Node's.
 */
import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** What to start: the leader of a session and group of its own. */
export interface Program {
  /** By path, or by name on the `PATH` of `env`. */
  readonly file: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Which of its descriptors we write to; 0 is the null device otherwise. */
  readonly inputDescriptor: 0 | 3 | undefined;
  /** Of ours, behind those: its own from 3 on, or from 4 on where 3 is taken. */
  readonly more: readonly number[];
  /** Path of a program that binds itself and then becomes this one. Only the kernel's own calls can start it. */
  readonly launcher?: string;
  /** User and group it runs as then; absent: ours. */
  readonly userId?: number;
}

/** How a process ended. */
export interface ProcessEnd {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that was started. */
export interface StartedProcess {
  readonly pid: number;
  readonly output: { readonly stdout: Readable; readonly stderr: Readable };
  /** What `inputDescriptor` reads; null where it was undefined. */
  readonly input: Writable | null;
  /** Resolves when it has ended; never rejects. */
  readonly exited: Promise<ProcessEnd>;
}

/** A program that could not be started, which only the next turn of the event loop tells. */
export interface UnstartedProcess {
  readonly pid?: undefined;
  /** Resolves with the errno error of the spawn. */
  readonly failure: Promise<NodeJS.ErrnoException>;
}

/** Start a program. @throws The errno error of the spawn, where it is known at once. */
export type Starter = (program: Program) => StartedProcess | UnstartedProcess;

/** Start a program. @throws The errno error of the spawn, where Node throws and does not emit it. */
export function startWithNode(program: Program): StartedProcess | UnstartedProcess {
  const { file, args, cwd, env, inputDescriptor, more, launcher } = program;
  if (launcher !== undefined)
    throw Object.assign(new Error('no launcher without the kernel’s own calls'), { code: 'ENOSYS' });
  const stdio: ('ignore' | 'pipe' | number)[] = ['ignore', 'pipe', 'pipe'];
  if (inputDescriptor !== undefined) stdio[inputDescriptor] = 'pipe';
  const child = spawn(file, args, { cwd, env, stdio: [...stdio, ...more], detached: true });
  if (child.pid === undefined) {
    return { failure: new Promise((tell) => child.once('error', tell)) };
  }
  child.once('error', () => undefined); // It has started: what a signal could not do is told to who sent it.
  return {
    pid: child.pid,
    output: { stdout: child.stdout as Readable, stderr: child.stderr as Readable },
    input: inputDescriptor === undefined ? null : (child.stdio[inputDescriptor] as Writable),
    exited: new Promise<ProcessEnd>((tell) => child.once('exit', (code, signal) => tell({ code, signal }))),
  };
}
