/**
 * Starts one child with a marker and an allow-listed environment: a program, or a shell that waits for its script.
 */
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { openRegular } from '../../files/open-checked.ts';
import { JAIL_PATH } from '../jail/system-paths.ts';
import type { ShellLauncher } from '../process-host.ts';
import type { JailEntry } from './jails.ts';
import type { SpawnMessage } from './messages.ts';
import { MARKER_VARIABLE } from './settings.ts';
import { WAITING_SHELL } from './shell.ts';
import type { Program, StartedProcess, Starter, UnstartedProcess } from './starter.ts';

/** A child that has just been started. */
export interface StartedChild extends StartedProcess {
  readonly marker: string;
}

/** Dependencies of starting children. */
export interface ChildParts {
  readonly start: Starter;
  /** Returns an unused marker. */
  nextMarker(): string;
}

/** Launcher or jail of a shell. */
export interface ShellContainment {
  readonly launcher?: ShellLauncher;
  /** Combined with a launcher it only sets limits, since the launcher bounds the paths. */
  readonly jail?: JailEntry;
}

/**
 * Environment of the host, which contains only what children may have. Copied, since each access to `process.env` is a
 * native call.
 */
const OWN_ENVIRONMENT = { ...process.env } as Readonly<Record<string, string>>;

/** Start a program. @throws As the starter. */
export function startProgram(
  message: SpawnMessage,
  parts: ChildParts,
  jail?: JailEntry,
): StartedChild | UnstartedProcess {
  const { hasStdin, files = [] } = message;
  return withOpenFiles([devNull, ...files], openOrNullDevice, ([nullDevice = -1, ...given]) => {
    const extraDescriptors = jail || given.length > 0 ? [nullDevice, jail?.ruleset ?? nullDevice, ...given] : [];
    const { file, args, cwd, env } = message;
    const program = { file, args, cwd, env, inputDescriptor: hasStdin ? 0 : undefined, extraDescriptors } as const;
    return startMarked({ ...program, ...launchedBy(jail) }, parts);
  });
}

/**
 * Start a shell that waits for its script on descriptor 3.
 *
 * @param containment The jail it is bound to, or the launcher that starts it. @throws As the starter.
 */
export function startShell(parts: ChildParts, { launcher, jail }: ShellContainment): StartedChild | UnstartedProcess {
  const { command = [], files = [] } = launcher ?? {};
  const [file = WAITING_SHELL.file, ...args] = [...command, WAITING_SHELL.file, ...WAITING_SHELL.args];
  const env: Program['env'] = jail ? { PATH: JAIL_PATH } : {};
  return withOpenFiles(
    files,
    (path) => openSync(path, 'r'),
    (given) => {
      const extraDescriptors = jail?.ruleset === undefined ? given : [jail.ruleset, ...given];
      const shell = startMarked(
        { file, args, cwd: '/', env, inputDescriptor: 3, extraDescriptors, ...launchedBy(jail) },
        parts,
      );
      if (jail && shell.pid !== undefined) preferForOomKill(shell.pid);
      return shell;
    },
  );
}

/** Make the kernel's OOM killer prefer this process: it is one that ran without a question. */
function preferForOomKill(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // It has ended already, or the score cannot be written on this machine; it then has the default score.
  }
}

function launchedBy(jail: JailEntry | undefined): Pick<Program, 'launcher' | 'userId'> {
  return jail ? { launcher: jail.launcher, userId: jail.userId } : {};
}

function startMarked(program: Program, { start, nextMarker }: ChildParts): StartedChild | UnstartedProcess {
  const marker = nextMarker();
  const child = start({ ...program, env: { ...OWN_ENVIRONMENT, ...program.env, [MARKER_VARIABLE]: marker } });
  if (child.pid === undefined) return child;
  const { input } = child;
  // A child that ends without reading breaks its pipe; its exit reports the outcome.
  input?.on('error', () => input.destroy());
  return { ...child, marker };
}

/** Open files for `work`; our copies are closed once the child has its own, or has failed to start. */
function withOpenFiles<Result>(
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

/** Open a regular file, or the null device if that fails, so that the other files keep their numbers. */
function openOrNullDevice(path: string): number {
  try {
    return openRegular(path, path).descriptor;
  } catch {
    // The file was moved, replaced or removed, so the program reads an empty one. If descriptors ran out, this open
    // fails too.
    return openSync(devNull, constants.O_RDONLY);
  }
}
