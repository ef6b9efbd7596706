/**
 * Starts programs through the kernel's own calls, with pipes that a program can open again by name:
 * Node's are socket pairs, with which `echo >/dev/stderr`, `tee /dev/stderr` and `cat /dev/stdin` fail.
 */
import { closeSync, fchownSync, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { devNull } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Libc, Pipe } from './libc.ts';
import type { ProcessEnd, Program, StartedProcess, Starter } from './starter.ts';

/** Where programs are looked for without a `PATH`. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';
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
    const { inputDescriptor, more, userId } = program;
    const [stdout, stderr, input] = makePipes(libc, inputDescriptor === undefined ? 2 : 3);
    const all = [stdout, stderr, input].filter((pipe) => pipe !== undefined);
    let pid: number;
    try {
      const given = [stdout.writer, stderr.writer];
      if (inputDescriptor === 3 && input) given.push(input.reader);
      const first = inputDescriptor === 0 && input ? input.reader : nullDevice;
      // Whoever runs as another user can open them again by name only as their owner.
      if (userId !== undefined) for (const { writer } of [stdout, stderr]) fchownSync(writer, userId, userId);
      pid = spawn(libc, program, [first, ...given, ...more]);
    } catch (error) {
      all.forEach(closePipe);
      throw error;
    }
    // The child has its own ends by now.
    for (const { reader, writer } of all) closeSync(reader === input?.reader ? reader : writer);
    return {
      pid,
      output: { stdout: readEnd(stdout), stderr: readEnd(stderr) },
      input: input ? new Socket({ fd: input.writer, readable: false, writable: true }) : null,
      exited: new Promise<ProcessEnd>((tell) => running.set(pid, tell)),
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

/** @throws ENOENT where no folder of `search` has it; those named from where the program will stand do not count. */
function programPath(file: string, search = DEFAULT_PATH): string {
  if (file.includes('/')) return file;
  const folders = search.split(':').filter(isAbsolute);
  const found = folders.map((folder) => join(folder, file)).find(isProgram);
  if (found !== undefined) return found;
  throw Object.assign(new Error(`spawn ${file} ENOENT`), { code: 'ENOENT' });
}

function isProgram(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && stats.isFile() && (stats.mode & ANYONE_MAY_RUN) !== 0;
  } catch {
    // A folder nobody lets us into: the next one may have it.
    return false;
  }
}

function readEnd({ reader }: Pipe): Socket {
  const options = { fd: reader, readable: true, writable: false, ...LEAST_BUFFER };
  return new Socket(options);
}
