/**
 * A child's output in bounded memory: text for the model, news for whoever watches, all bytes on disk.
 *
 * What was written stands in one text, in the order in which it came, whichever pipe it came from.
 */
import { StringDecoder } from 'node:string_decoder';
import type { Limits } from '../../config/limits.ts';
import type { WindowedText } from '../base/cut-text.ts';
import type { OutputStream } from './process-host.ts';
import { createSpoolFile, type SpoolEnd } from './spool-file.ts';
import { createTextWindow } from './text-window.ts';

/** What became of an output. */
export interface OutputEnd extends WindowedText, SpoolEnd {
  readonly totalBytes: number;
}

/** Takes an output until it ends. */
export interface BoundedOutput {
  /** Hand to `SpawnRequest.onOutput`. */
  take(stream: OutputStream, chunk: Buffer): void | Promise<void>;
  /** After the last chunk. Never rejects. */
  finish(): Promise<OutputEnd>;
}

/** How to keep an output. */
export interface BoundedOutputOptions {
  readonly limits: Pick<
    Limits,
    'spillBytes' | 'outputMemoryBytes' | 'outputHeadChars' | 'outputTailChars' | 'outputWaitingBytes'
  >;
  /** Absolute path of the file that takes all bytes once they are more than memory may hold. */
  readonly path: string;
  /** Begin the file at once and keep it however short the output is, for those who read along. */
  readonly isFileKept?: boolean;
  /** Each new piece of text at once, halves of characters held back. */
  readonly onText?: (stream: OutputStream, text: string) => void;
  /** Once, when more than `limits.spillBytes` came: the child must end, nothing more is kept. */
  readonly onLimit: () => void;
}

/** Keep an output within bounds. */
export function createBoundedOutput({
  limits,
  path,
  isFileKept = false,
  onText,
  onLimit,
}: BoundedOutputOptions): BoundedOutput {
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  const window = createTextWindow({
    wholeChars: limits.outputMemoryBytes,
    headChars: limits.outputHeadChars,
    tailChars: limits.outputTailChars,
  });
  const memoryBytes = isFileKept ? 0 : limits.outputMemoryBytes;
  const spool = createSpoolFile(path, { memoryBytes, mostWaitingBytes: limits.outputWaitingBytes });
  if (isFileKept) void spool.write(Buffer.alloc(0));
  let totalBytes = 0;

  function tell(stream: OutputStream, text: string): void {
    if (text === '') return;
    window.add(text);
    onText?.(stream, text);
  }

  return {
    take(stream, chunk) {
      if (totalBytes > limits.spillBytes) return;
      const room = limits.spillBytes - totalBytes;
      totalBytes += chunk.length;
      const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
      tell(stream, decoders[stream].write(kept));
      const isBehind = spool.write(kept);
      if (totalBytes > limits.spillBytes) onLimit();
      return isBehind;
    },
    async finish() {
      tell('stdout', decoders.stdout.end());
      tell('stderr', decoders.stderr.end());
      const text = window.read();
      // A whole text needs no file beside it: whoever has too little room for it writes its own.
      const end = await spool.finish(isFileKept || text.omittedChars > 0);
      return { totalBytes, ...text, ...end };
    },
  };
}
