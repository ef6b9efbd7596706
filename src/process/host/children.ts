/**
 * The children that run: started when a frame asks for one, told about until they end.
 */
import type { Socket } from 'node:net';
import { signalGroup } from './kill-tree.ts';
import type { ExitedMessage, FailedMessage, SpawnMessage, StartedMessage } from './messages.ts';
import { FromHost, writeFrame, writeJsonFrame } from './protocol.ts';
import type { HostSettings } from './settings.ts';
import { shellOrder } from './shell.ts';
import { startProgram } from './start-child.ts';
import type { ChildParts, StartedChild } from './start-child.ts';
import { superviseChild } from './supervised-child.ts';
import type { SupervisedChild } from './supervised-child.ts';
import { youngestProcess } from './survivors.ts';
import type { ShellSupply } from './shell-supply.ts';

/** One child that runs. */
export interface RunningChild extends SupervisedChild {
  readonly pid: number;
  readonly input: StartedChild['input'];
}

/** Make the table of children; `spawn` answers over the socket, whatever happens. */
export function createChildren(settings: HostSettings, socket: Socket, shells: ShellSupply, parts: ChildParts) {
  const running = new Map<number, RunningChild>();

  function spawn(id: number, message: SpawnMessage): void {
    try {
      if (running.size >= settings.children) throw Object.assign(new Error('Too many children'), { code: 'EAGAIN' });
      const { shellScript, launcher } = message;
      const bornAfter = youngestProcess();
      const child = shellScript === undefined ? startProgram(message, parts) : shells.take(launcher);
      if (child.pid === undefined) return void child.failure.then((error) => fail(id, error));
      if (shellScript !== undefined) child.input?.end(shellOrder({ ...message, shellScript }));
      supervise(id, child, bornAfter);
      shells.refillSoon();
    } catch (error) {
      fail(id, error as NodeJS.ErrnoException);
    }
  }

  function fail(id: number, error: NodeJS.ErrnoException): void {
    writeJsonFrame(socket, FromHost.failed, id, {
      code: error.code ?? '',
      message: error.message,
    } satisfies FailedMessage);
  }

  function supervise(id: number, child: StartedChild, bornAfter: number): void {
    const { pid } = child;
    const supervised = superviseChild(
      child,
      {
        output: (stream, chunk) => writeFrame(socket, FromHost[stream], id, chunk),
        exited(code, signal) {
          running.delete(id);
          child.input?.destroy();
          const message: ExitedMessage = { code, signal, hasGroup: signalGroup(pid, 0) };
          writeJsonFrame(socket, FromHost.exited, id, message);
        },
      },
      settings.windowBytes,
    );
    running.set(id, { ...supervised, pid, input: child.input });
    writeJsonFrame(socket, FromHost.started, id, { pid, marker: child.marker, bornAfter } satisfies StartedMessage);
  }

  return { running: running as ReadonlyMap<number, RunningChild>, spawn };
}
