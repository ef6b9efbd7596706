/**
 * The running children of a host: starts them and reports on them until they end.
 */
import type { Socket } from 'node:net';
import { NO_JAIL } from '../spawn-error.ts';
import type { Jails } from './jails.ts';
import { signalGroup } from './kill-tree.ts';
import type { ExitedMessage, FailedMessage, SpawnMessage, StartedMessage } from './messages.ts';
import { FromHost, writeFrame, writeJsonFrame } from './protocol.ts';
import type { HostSettings } from './settings.ts';
import { shellInput } from './shell.ts';
import { type ChildParts, type StartedChild, startProgram } from './start-child.ts';
import { superviseChild, type SupervisedChild } from './supervised-child.ts';
import { lastProcessId } from './survivors.ts';
import type { ShellSupply, RequestedShell } from './shell-supply.ts';

/** One running child. */
export interface RunningChild extends SupervisedChild {
  readonly pid: number;
  readonly input: StartedChild['input'];
}

/** Sources of shells, jails and programs. */
export interface ChildSources {
  readonly shells: ShellSupply;
  readonly jails: Jails;
  readonly parts: ChildParts;
}

/** Create the table of children. `spawn` reports success and failure over the socket and never throws. */
export function createChildren(settings: HostSettings, socket: Socket, { shells, jails, parts }: ChildSources) {
  const running = new Map<number, RunningChild>();

  function spawn(id: number, message: SpawnMessage): void {
    try {
      if (running.size >= settings.children) throw Object.assign(new Error('Too many children'), { code: 'EAGAIN' });
      const { shellScript } = message;
      const jail = jailOf(message);
      const bornAfter = lastProcessId();
      const child =
        shellScript === undefined
          ? startProgram(message, parts, jail?.entry)
          : shells.take(requestedShell(message, jail));
      if (child.pid === undefined) return void child.failure.then((error) => fail(id, error));
      if (shellScript !== undefined) {
        const isBound = jail !== undefined || message.launcher?.isLimited === true;
        child.input?.end(shellInput({ ...message, shellScript }, isBound ? jails.shellLimits() : undefined));
      }
      supervise(id, child, bornAfter);
      shells.refillSoon();
    } catch (error) {
      fail(id, error as NodeJS.ErrnoException);
    }
  }

  /** @throws `ENOJAIL` if the jail is not open: a child never starts without its jail. */
  function jailOf({ jail: key }: SpawnMessage): RequestedShell['jail'] {
    if (key === undefined) return undefined;
    const entry = jails.entry(key);
    if (entry === undefined) throw Object.assign(new Error('no such jail'), { code: NO_JAIL });
    return { key, entry };
  }

  function requestedShell({ launcher }: SpawnMessage, jail: RequestedShell['jail']): RequestedShell {
    if (launcher?.isLimited !== true) return { launcher, jail };
    return { launcher, limits: jails.limits };
  }

  function fail(id: number, error: NodeJS.ErrnoException): void {
    writeJsonFrame(socket, FromHost.failed, id, {
      code: error.code ?? '',
      message: error.message,
    } satisfies FailedMessage);
  }

  function supervise(id: number, child: StartedChild, bornAfter: number): void {
    const { pid } = child;
    const supervised = superviseChild(child, {
      output: (stream, chunk) => writeFrame(socket, FromHost[stream], id, chunk),
      exited(code, signal) {
        running.delete(id);
        child.input?.destroy();
        const message: ExitedMessage = { code, signal, hasGroup: signalGroup(pid, 0) };
        writeJsonFrame(socket, FromHost.exited, id, message);
      },
    });
    running.set(id, { ...supervised, pid, input: child.input });
    writeJsonFrame(socket, FromHost.started, id, { pid, marker: child.marker, bornAfter } satisfies StartedMessage);
  }

  return { running: running as ReadonlyMap<number, RunningChild>, spawn };
}
