/**
 * Start one child with a marker and an allow-listed environment: a program, or a shell that waits for its script.
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

/** What children are made of. */
export interface ChildParts {
  readonly start: Starter;
  /** Gives each its own marker. */
  nextMarker(): string;
}

/** The launcher or jail in which a shell is started. */
export interface ShellContainment {
  readonly launcher?: ShellLauncher;
  /** With a launcher only limits: it is the launcher that bounds paths then. */
  readonly jail?: JailEntry;
}

/** The host itself was given only what children may have; asking for it costs a call a variable. */
const OWN_ENVIRONMENT = { ...process.env } as Readonly<Record<string, string>>;

/** Start a program. @throws As the starter. */
export function startProgram(
  message: SpawnMessage,
  parts: ChildParts,
  jail?: JailEntry,
): StartedChild | UnstartedProcess {
  const { hasStdin, files = [] } = message;
  return withOpen([devNull, ...files], openGiven, ([nothing = -1, ...given]) => {
    const more = jail || given.length > 0 ? [nothing, jail?.ruleset ?? nothing, ...given] : [];
    const { file, args, cwd, env } = message;
    const program = { file, args, cwd, env, inputDescriptor: hasStdin ? 0 : undefined, more } as const;
    return startMarked({ ...program, ...launchedBy(jail) }, parts);
  });
}

/**
 * Start a shell that waits for its order on descriptor 3.
 *
 * @param surroundings The jail it is bound to, or what starts it in its stead. @throws As the starter.
 */
export function startShell(parts: ChildParts, { launcher, jail }: ShellContainment): StartedChild | UnstartedProcess {
  const { command = [], files = [] } = launcher ?? {};
  const [file = WAITING_SHELL.file, ...args] = [...command, WAITING_SHELL.file, ...WAITING_SHELL.args];
  const env: Program['env'] = jail ? { PATH: JAIL_PATH } : {};
  return withOpen(
    files,
    (path) => openSync(path, 'r'),
    (given) => {
      const more = jail?.ruleset === undefined ? given : [jail.ruleset, ...given];
      const shell = startMarked({ file, args, cwd: '/', env, inputDescriptor: 3, more, ...launchedBy(jail) }, parts);
      if (jail && shell.pid !== undefined) endFirst(shell.pid);
      return shell;
    },
  );
}

/** Makes the kernel end this process first where memory is short: nobody was asked about it. */
function endFirst(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // It has ended already, or this machine keeps the score to itself: then memory is short for all alike.
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
  // A child that ends without reading breaks its pipe; how it ended is told by its exit.
  input?.on('error', () => input.destroy());
  return { ...child, marker };
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
