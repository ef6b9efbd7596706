/**
 * One child as its caller sees it: promises for start and end, output in order and at the reader's pace.
 */
import type { GauntletError } from '../base/errors.ts';
import type { ExitedMessage, StartedMessage } from './host/messages.ts';
import type { OutputStream, ProcessExit, SpawnRequest } from './process-host.ts';

/** What the connection tells a child. */
export interface HostedChild {
  readonly started: Promise<StartedMessage>;
  readonly exited: Promise<ProcessExit>;
  onStarted(message: StartedMessage): void;
  onFailed(error: GauntletError): void;
  onOutput(stream: OutputStream, chunk: Buffer): void;
  onExited(message: ExitedMessage): void;
  /** The host is gone: a child that had started counts as killed, one that had not as failed. */
  onLost(error: GauntletError): void;
  /** Whether the leader's group may still be signalled by its number. */
  hasGroup(): boolean;
}

/** Steps that a child asks of its connection. */
export interface ChildActions {
  /** This many bytes were taken: the host may send as many more. */
  acknowledge(bytes: number): void;
  /** The reader failed: end what feeds it. */
  endTree(): void;
}

/** Make the caller's side of a child. @param windowBytes What the host sends before it waits. */
export function createHostedChild(
  onOutput: SpawnRequest['onOutput'],
  windowBytes: number,
  actions: ChildActions,
): HostedChild {
  const started = deferred<StartedMessage>();
  const exited = deferred<ProcessExit>();
  // A caller may look at one of the two alone.
  started.promise.catch(ignoreHere);
  exited.promise.catch(ignoreHere);
  const output = readAtPace(onOutput, windowBytes, actions);
  let hasStarted = false;
  let isGroupGone = false;

  function onFailed(error: GauntletError): void {
    started.reject(error);
    exited.reject(error);
  }

  function onExited({ code, signal, hasGroup }: ExitedMessage): void {
    isGroupGone = !hasGroup;
    const exit: ProcessExit = { code, signal, ...(hasGroup ? { hasSurvivors: true } : {}) };
    output.afterAll(() => exited.resolve(exit));
  }

  return {
    started: started.promise,
    exited: exited.promise,
    onStarted(message) {
      hasStarted = true;
      started.resolve(message);
    },
    onFailed,
    onExited,
    onLost(error) {
      if (hasStarted) onExited({ code: null, signal: 'SIGKILL', hasGroup: false });
      else onFailed(error);
    },
    onOutput: output.push,
    hasGroup: () => !isGroupGone,
  };
}

/** Hands chunks on in order, one at a time where the reader is slow, and says how much was taken. */
function readAtPace(onOutput: SpawnRequest['onOutput'], windowBytes: number, actions: ChildActions) {
  let reader = onOutput;
  let takenBytes = 0;
  /** The chunks that wait for a slow reader; undefined while it keeps up. Bounded by the window. */
  let backlog: Promise<void> | undefined;

  function taken(bytes: number): void {
    takenBytes += bytes;
    if (takenBytes < windowBytes / 4) return;
    actions.acknowledge(takenBytes);
    takenBytes = 0;
  }

  function hand(stream: OutputStream, chunk: Buffer): void | Promise<void> {
    try {
      return reader?.(stream, chunk);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  function readerFailed(): void {
    reader = undefined;
    actions.endTree();
  }

  return {
    push(stream: OutputStream, chunk: Buffer): void {
      const pending = backlog === undefined ? hand(stream, chunk) : backlog.then(() => hand(stream, chunk));
      if (pending === undefined) return taken(chunk.length);
      const settled: Promise<void> = pending.catch(readerFailed).then(() => {
        taken(chunk.length);
        if (backlog === settled) backlog = undefined;
      });
      backlog = settled;
    },
    /** At once where nothing waits. */
    afterAll(act: () => void): void {
      if (backlog === undefined) act();
      else void backlog.then(act);
    },
  };
}

function ignoreHere(): void {
  // Whoever awaits the promise itself is told; this only keeps a rejection from counting as unhandled.
}

function deferred<Value>() {
  let resolve!: (value: Value) => void;
  let reject!: (reason: Error) => void;
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
