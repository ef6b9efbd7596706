/**
 * One child of the host: its output leaves within a window, its end is told when the leader is gone.
 */
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OutputStream } from '../process-host.ts';
import type { StartedChild } from './start-child.ts';

/** Where a child's news goes. */
export interface ChildListener {
  output(stream: OutputStream, chunk: Buffer): void;
  /** Once, after the last output. */
  exited(code: number | null, signal: NodeJS.Signals | null): void;
}

/** A running child that is listened to. */
export interface SupervisedChild {
  /** The server has taken this many bytes of output. */
  acknowledge(bytes: number): void;
}

/** More than a pipe holds: what still comes after it was written when the leader was gone. */
const DRAIN_BYTES = 1_024 * 1_024;
/** A program that writes line by line, some 20 a millisecond, costs both of us more than its own work. */
const LITTLE_BYTES = 4_096;
/** So many such chunks go on at once; who still writes so is read again only after `GATHER_MS`. */
const LITTLE_CHUNKS = 4;
const GATHER_MS = 4;
/** Turns of the event loop without output after which the pipes were empty when the leader ended. */
const QUIET_TURNS = 2;

/** Listen to a child from now on. Reading stops while `windowBytes` are unacknowledged. */
export function superviseChild(
  { exited, output: pipes }: StartedChild,
  listener: ChildListener,
  windowBytes: number,
): SupervisedChild {
  const open = new Set<Readable>(Object.values(pipes));
  let receivedBytes = 0;
  let unacknowledgedBytes = 0;
  let hasEnded = false;
  let wake: () => void = () => undefined;
  const isFull = () => unacknowledgedBytes >= windowBytes;

  for (const stream of ['stdout', 'stderr'] as const) {
    const pipe = pipes[stream];
    const comesInBits = bitsCounter();
    pipe.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length;
      unacknowledgedBytes += chunk.length;
      if (isFull()) for (const each of open) each.pause();
      else if (comesInBits(chunk) && !hasEnded) gather(pipe);
      listener.output(stream, chunk);
    });
    // A pipe that breaks has nothing more to give; how the child ended tells the rest.
    pipe.on('error', () => pipe.destroy());
    pipe.on('close', () => open.delete(pipe));
  }

  function gather(pipe: Readable): void {
    pipe.pause();
    setTimeout(() => {
      if (!isFull()) pipe.resume();
    }, GATHER_MS);
  }

  void exited.then(({ code, signal }) => {
    hasEnded = true;
    if (!isFull()) for (const pipe of open) pipe.resume();
    void drain().then(() => {
      for (const pipe of open) pipe.destroy();
      listener.exited(code, signal);
    });
  });

  /** Read what was written before the leader ended, and no more: others may hold the pipes open for ever. */
  async function drain(): Promise<void> {
    const endBytes = receivedBytes + DRAIN_BYTES;
    let quietTurns = 0;
    while (open.size > 0 && quietTurns < QUIET_TURNS && receivedBytes < endBytes) {
      const before = receivedBytes;
      if (isFull()) await new Promise<void>((resolve) => (wake = resolve));
      else await nextTurn();
      quietTurns = receivedBytes === before ? quietTurns + 1 : 0;
    }
  }

  return {
    acknowledge(bytes) {
      const wasFull = isFull();
      unacknowledgedBytes -= bytes;
      if (!wasFull || isFull()) return;
      for (const each of open) each.resume();
      wake();
    },
  };
}

/** @returns Told each chunk of a pipe, whether too many little ones have come lately. */
function bitsCounter(): (chunk: Buffer) => boolean {
  let sinceMs = -Infinity;
  let count = 0;
  return (chunk) => {
    if (chunk.length >= LITTLE_BYTES) return false;
    const nowMs = performance.now();
    if (nowMs - sinceMs > GATHER_MS) {
      sinceMs = nowMs;
      count = 0;
    }
    count += 1;
    return count > LITTLE_CHUNKS;
  };
}
