/**
 * Starts programs with `posix_spawn` and with pipes that a program can reopen by name: Node's are socket pairs, with
 * which `echo >/dev/stderr`, `tee /dev/stderr` and `cat /dev/stdin` fail.
 */
import { closeSync, fchownSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { devNull } from 'node:os';
import { findProgram } from '../find-program.ts';
import type { Libc, Pipe } from './libc.ts';
import type { ProcessEnd, Program, StartedProcess, Starter } from './starter.ts';

/** Interpreter of scripts that name none. @see execvp(3) */
const SCRIPT_SHELL = '/bin/sh';
/** A paused pipe then reads one more chunk from the kernel, not 16 KiB of small ones. */
const SMALL_READ_BUFFER = { readableHighWaterMark: 1 };

/** Create a starter. It reaps every child of this process, so nothing else in the process may start one. */
export function createNativeStarter(libc: Libc): Starter {
  const running = new Map<number, (end: ProcessEnd) => void>();
  const nullDevice = openSync(devNull, 'r');

  // One SIGCHLD may stand for several children.
  process.on('SIGCHLD', () => {
    for (let ended = libc.reap(); ended !== undefined; ended = libc.reap()) {
      running.get(ended.pid)?.(ended);
      running.delete(ended.pid);
    }
  });

  return function start(program): StartedProcess {
    const { inputDescriptor, extraDescriptors, userId } = program;
    const [stdout, stderr, input] = makePipes(libc, inputDescriptor === undefined ? 2 : 3);
    const all = [stdout, stderr, input].filter((pipe) => pipe !== undefined);
    let pid: number;
    try {
      const given = [stdout.writer, stderr.writer];
      if (inputDescriptor === 3 && input) given.push(input.reader);
      const first = inputDescriptor === 0 && input ? input.reader : nullDevice;
      // Another user may reopen the pipes by name only as their owner.
      if (userId !== undefined) for (const { writer } of [stdout, stderr]) fchownSync(writer, userId, userId);
      pid = spawn(libc, program, [first, ...given, ...extraDescriptors]);
    } catch (error) {
      all.forEach(closePipe);
      throw error;
    }
    // The child has its own copies by now.
    for (const { reader, writer } of all) closeSync(reader === input?.reader ? reader : writer);
    return {
      pid,
      output: { stdout: openReader(stdout), stderr: openReader(stderr) },
      input: input ? new Socket({ fd: input.writer, readable: false, writable: true }) : null,
      exited: new Promise<ProcessEnd>((resolve) => running.set(pid, resolve)),
    };
  };
}

function makePipes(libc: Libc, count: number): readonly [Pipe, Pipe, Pipe?] {
  const made: Pipe[] = [];
  try {
    while (made.length < count) made.push(libc.pipe());
  } catch (error) {
    made.forEach(closePipe);
    throw error;
  }
  return made as [Pipe, Pipe, Pipe?];
}

function closePipe({ reader, writer }: Pipe): void {
  closeSync(reader);
  closeSync(writer);
}

function spawn(libc: Libc, { file, args, cwd, env, launcher }: Program, descriptors: readonly number[]): number {
  const path = programPath(file, env['PATH']);
  const rest = { cwd, env: Object.entries(env).map(([name, value]) => `${name}=${value}`), descriptors };
  if (launcher !== undefined) return libc.spawn({ path: launcher, words: [path, file, ...args], ...rest });
  try {
    return libc.spawn({ path, words: [file, ...args], ...rest });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOEXEC') throw error;
    return libc.spawn({ path: SCRIPT_SHELL, words: [SCRIPT_SHELL, path, ...args], ...rest });
  }
}

/** @throws ENOENT if no folder of `search` has the program. */
function programPath(file: string, search: string | undefined): string {
  const found = file.includes('/') ? file : findProgram(file, search);
  if (found !== undefined) return found;
  throw Object.assign(new Error(`spawn ${file} ENOENT`), { code: 'ENOENT' });
}

function openReader({ reader }: Pipe): Socket {
  const options = { fd: reader, readable: true, writable: false, ...SMALL_READ_BUFFER };
  return new Socket(options);
}
