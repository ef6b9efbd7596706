/**
 * Starts programs with Node's spawn, where the kernel's own calls cannot be had.
 */
import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { ProcessEnd, Program, StartedProcess, UnstartedProcess } from './starter.ts';

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
