/**
 * Keeps a child's output in bounded memory: text for the model, increments for watchers, all bytes on disk.
 *
 * The text holds both pipes, interleaved in the order of arrival.
 */
import { StringDecoder } from 'node:string_decoder';
import type { Limits } from '../../config/limits.ts';
import type { WindowedText } from '../base/cut-text.ts';
import type { OutputStream } from './process-host.ts';
import { createSpoolFile, type SpoolEnd } from './spool-file.ts';
import { createTextWindow } from './text-window.ts';

/**
 * Output held in memory. A longer one goes to its file, and only its head and tail stay: ten calls may run side by
 * side.
 */
const MAX_MEMORY_BYTES = 4 * 1_024 * 1_024;

/** The head of an output that is too long for memory; with its tail it is as long as any preview. */
const HEAD_CHARS = 1_000;

/** The tail of such an output; errors are printed last. */
const TAIL_CHARS = 1_000;

/** The kept output, and the state of its file. */
export interface OutputEnd extends WindowedText, SpoolEnd {
  readonly totalBytes: number;
}

/** Collects an output until it ends. */
export interface BoundedOutput {
  /** Pass it as `SpawnRequest.onOutput`. */
  take(stream: OutputStream, chunk: Buffer): void | Promise<void>;
  /** Call after the last chunk. Never rejects. */
  finish(): Promise<OutputEnd>;
}

/** Options of `createBoundedOutput`. */
export interface BoundedOutputOptions {
  readonly limits: Pick<Limits, 'spillBytes'>;
  /** Absolute path of the file that receives all bytes once they exceed the memory limit. */
  readonly path: string;
  /** True to create the file at once and keep it however short the output is, for readers that follow it. */
  readonly isFileKept?: boolean;
  /** Called with each new piece of text; an incomplete character is held back. */
  readonly onText?: (stream: OutputStream, text: string) => void;
  /** Called once, when more than `limits.spillBytes` arrived: the child must be ended, and nothing more is kept. */
  readonly onLimit: () => void;
}

/** Create a collector for one child's output. */
export function createBoundedOutput({
  limits,
  path,
  isFileKept = false,
  onText,
  onLimit,
}: BoundedOutputOptions): BoundedOutput {
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  const window = createTextWindow({
    wholeChars: MAX_MEMORY_BYTES,
    headChars: HEAD_CHARS,
    tailChars: TAIL_CHARS,
  });
  const memoryBytes = isFileKept ? 0 : MAX_MEMORY_BYTES;
  const spool = createSpoolFile(path, memoryBytes);
  if (isFileKept) void spool.write(Buffer.alloc(0));
  let totalBytes = 0;

  function addText(stream: OutputStream, text: string): void {
    if (text === '') return;
    window.add(text);
    onText?.(stream, text);
  }

  return {
    take(stream, chunk) {
      if (totalBytes > limits.spillBytes) return;
      const remainingBytes = limits.spillBytes - totalBytes;
      totalBytes += chunk.length;
      const kept = chunk.length > remainingBytes ? chunk.subarray(0, remainingBytes) : chunk;
      addText(stream, decoders[stream].write(kept));
      const isBehind = spool.write(kept);
      if (totalBytes > limits.spillBytes) onLimit();
      return isBehind;
    },
    async finish() {
      addText('stdout', decoders.stdout.end());
      addText('stderr', decoders.stderr.end());
      const text = window.read();
      // A complete text needs no file beside it; a caller with less room for text writes its own.
      const end = await spool.finish(isFileKept || text.omittedChars > 0);
      return { totalBytes, ...text, ...end };
    },
  };
}
