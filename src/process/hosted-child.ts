/**
 * One child from its caller's side: promises for start and end, and output in order at the reader's pace.
 */
import type { GauntletError } from '../base/errors.ts';
import type { ExitedMessage, StartedMessage } from './host/messages.ts';
import { OUTPUT_WINDOW_BYTES } from './host/settings.ts';
import type { OutputStream, ProcessExit, SpawnRequest } from './process-host.ts';

/** A child, as its connection drives it. */
export interface HostedChild {
  readonly started: Promise<StartedMessage>;
  readonly exited: Promise<ProcessExit>;
  onStarted(message: StartedMessage): void;
  onFailed(error: GauntletError): void;
  onOutput(stream: OutputStream, chunk: Buffer): void;
  onExited(message: ExitedMessage): void;
  /** Handle the loss of the host: a child that had started counts as killed, one that had not as failed. */
  onLost(error: GauntletError): void;
  /** True if the leader's group may still be signalled by its id. */
  hasGroup(): boolean;
}

/** Requests of a child to its connection. */
export interface ChildActions {
  /** Report consumed bytes: the host may send as many more. */
  acknowledge(bytes: number): void;
  /** End the process tree, because the reader failed. */
  endTree(): void;
}

/** Make the caller's side of a child. */
export function createHostedChild(onOutput: SpawnRequest['onOutput'], actions: ChildActions): HostedChild {
  const started = deferred<StartedMessage>();
  const exited = deferred<ProcessExit>();
  // A caller may handle only one of the two promises.
  started.promise.catch(ignoreRejection);
  exited.promise.catch(ignoreRejection);
  const output = createPacedReader(onOutput, actions);
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

/** Deliver chunks in order, one at a time to a slow reader, and acknowledge the bytes it consumed. */
function createPacedReader(onOutput: SpawnRequest['onOutput'], actions: ChildActions) {
  let reader = onOutput;
  let consumedBytes = 0;
  /** Chunks that wait for a slow reader, bounded by the window; `undefined` while it keeps up. */
  let backlog: Promise<void> | undefined;

  function countConsumed(bytes: number): void {
    consumedBytes += bytes;
    if (consumedBytes < OUTPUT_WINDOW_BYTES / 4) return;
    actions.acknowledge(consumedBytes);
    consumedBytes = 0;
  }

  function deliver(stream: OutputStream, chunk: Buffer): void | Promise<void> {
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
      const pending = backlog === undefined ? deliver(stream, chunk) : backlog.then(() => deliver(stream, chunk));
      if (pending === undefined) return countConsumed(chunk.length);
      const settled: Promise<void> = pending.catch(readerFailed).then(() => {
        countConsumed(chunk.length);
        if (backlog === settled) backlog = undefined;
      });
      backlog = settled;
    },
    /** Run `act` after all chunks, at once if none waits. */
    afterAll(act: () => void): void {
      if (backlog === undefined) act();
      else void backlog.then(act);
    },
  };
}

function ignoreRejection(): void {
  // Marks the rejection as handled; callers that await the promise still receive it.
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
