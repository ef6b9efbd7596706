/**
 * Starts programs through the kernel's own calls, with pipes that a program can open again by name:
 * Node's are socket pairs, with which `echo >/dev/stderr`, `tee /dev/stderr` and `cat /dev/stdin` fail.
 */
import { closeSync, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { devNull } from 'node:os';
import { resolve } from 'node:path';
import type { Libc, Pipe } from './libc.ts';
import type { ProcessEnd, Program, StartedProcess, Starter } from './starter.ts';

/** What runs a script that names no interpreter. @see execvp(3) */
const SCRIPT_SHELL = '/bin/sh';
/** @see inode(7) */
const ANYONE_MAY_RUN = 0o111;
/** A stopped pipe then takes one chunk more from the kernel, not sixteen thousand bytes of small ones. */
const LEAST_BUFFER = { readableHighWaterMark: 1 };

/** Make a starter. It learns of every child of this process that ends, so no other may start any. */
export function createNativeStarter(libc: Libc): Starter {
  const running = new Map<number, (end: ProcessEnd) => void>();
  const nullDevice = openSync(devNull, 'r');

  // One signal may stand for several children.
  process.on('SIGCHLD', () => {
    for (let ended = libc.reap(); ended !== undefined; ended = libc.reap()) {
      running.get(ended.pid)?.(ended);
      running.delete(ended.pid);
    }
  });

  return function start(program): StartedProcess {
    const { inputDescriptor, more } = program;
    const pipes: Pipe[] = [];
    const newPipe = () => pipes[pipes.push(libc.pipe()) - 1] as Pipe;
    try {
      const [stdout, stderr] = [newPipe(), newPipe()];
      const input = inputDescriptor === undefined ? undefined : newPipe();
      const given = [inputDescriptor === 0 && input ? input.reader : nullDevice, stdout.writer, stderr.writer];
      if (inputDescriptor === 3 && input) given.push(input.reader);
      const pid = spawn(libc, program, [...given, ...more]);
      const exited = new Promise<ProcessEnd>((tell) => running.set(pid, tell));
      for (const { writer } of [stdout, stderr]) closeSync(writer);
      if (input) closeSync(input.reader);
      return {
        pid,
        output: { stdout: readEnd(stdout), stderr: readEnd(stderr) },
        input: input ? new Socket({ fd: input.writer, readable: false, writable: true }) : null,
        exited,
      };
    } catch (error) {
      for (const { reader, writer } of pipes) [reader, writer].forEach(closeSync);
      throw error;
    }
  };
}

function spawn(libc: Libc, { file, args, cwd, env }: Program, descriptors: readonly number[]): number {
  const path = programPath(file, cwd, env['PATH']);
  const rest = { cwd, env: Object.entries(env).map(([name, value]) => `${name}=${value}`), descriptors };
  try {
    return libc.spawn({ path, words: [file, ...args], ...rest });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOEXEC') throw error;
    return libc.spawn({ path: SCRIPT_SHELL, words: [SCRIPT_SHELL, path, ...args], ...rest });
  }
}

/** @throws ENOENT where no folder of `search` has it. */
function programPath(file: string, cwd: string, search = ''): string {
  if (file.includes('/')) return file;
  const found = search
    .split(':')
    .map((folder) => resolve(cwd, folder, file))
    .find(isProgram);
  if (found !== undefined) return found;
  throw Object.assign(new Error(`spawn ${file} ENOENT`), { code: 'ENOENT' });
}

function isProgram(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.isFile() && (stats.mode & ANYONE_MAY_RUN) !== 0;
}

function readEnd({ reader }: Pipe): Socket {
  const options = { fd: reader, readable: true, writable: false, ...LEAST_BUFFER };
  return new Socket(options);
}
