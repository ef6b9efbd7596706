/**
 * One child of the host: its output is sent within a window, and its exit is reported once the leader has ended.
 */
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OutputStream } from '../process-host.ts';
import { OUTPUT_WINDOW_BYTES } from './settings.ts';
import type { StartedChild } from './start-child.ts';

/** Receiver of a child's events. */
export interface ChildListener {
  output(stream: OutputStream, chunk: Buffer): void;
  /** Called once, after the last output. */
  exited(code: number | null, signal: NodeJS.Signals | null): void;
}

/** A running child under supervision. */
export interface SupervisedChild {
  /** Record that the server consumed this many bytes of output. */
  acknowledge(bytes: number): void;
}

/** Bytes read after the leader's end at most; more than a pipe holds, so the rest was written by others. */
const DRAIN_BYTES = 1_024 * 1_024;
/**
 * Chunks below this size are small. A program that writes line by line, 20 lines a millisecond, would cost server and
 * host more than its own work.
 */
const SMALL_CHUNK_BYTES = 4_096;
/** Small chunks sent at once within `GATHER_MS`; after that the pipe is paused for `GATHER_MS`. */
const MAX_SMALL_CHUNKS = 4;
const GATHER_MS = 4;
/** Turns of the event loop without output after which the pipes count as empty. */
const QUIET_TURNS = 2;

/** Supervise a child. Reading pauses while `OUTPUT_WINDOW_BYTES` are unacknowledged. */
export function superviseChild({ exited, output: pipes }: StartedChild, listener: ChildListener): SupervisedChild {
  const open = new Set<Readable>(Object.values(pipes));
  let receivedBytes = 0;
  let unacknowledgedBytes = 0;
  let hasEnded = false;
  let wake: () => void = () => undefined;
  const isFull = () => unacknowledgedBytes >= OUTPUT_WINDOW_BYTES;

  for (const stream of ['stdout', 'stderr'] as const) {
    const pipe = pipes[stream];
    const sendsSmallChunks = createSmallChunkCounter();
    pipe.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length;
      unacknowledgedBytes += chunk.length;
      if (isFull()) for (const each of open) each.pause();
      else if (sendsSmallChunks(chunk) && !hasEnded) pauseBriefly(pipe);
      listener.output(stream, chunk);
    });
    // A broken pipe has no more data; the exit reports the outcome.
    pipe.on('error', () => pipe.destroy());
    pipe.on('close', () => open.delete(pipe));
  }

  function pauseBriefly(pipe: Readable): void {
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

  /** Read what was written before the leader ended, and no more: descendants may hold the pipes open for ever. */
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

/** @returns A function that takes each chunk of a pipe and reports whether too many small ones arrived lately. */
function createSmallChunkCounter(): (chunk: Buffer) => boolean {
  let sinceMs = -Infinity;
  let count = 0;
  return (chunk) => {
    if (chunk.length >= SMALL_CHUNK_BYTES) return false;
    const nowMs = performance.now();
    if (nowMs - sinceMs > GATHER_MS) {
      sinceMs = nowMs;
      count = 0;
    }
    count += 1;
    return count > MAX_SMALL_CHUNKS;
  };
}
