/**
 * The SDK's transport over a child of the process host, so that a stdio server leads a process group of its own and
 * ends with everything it started.
 *
 * Newline-delimited JSON in both directions. Lines that are not JSON are ignored and counted.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage, GauntletError } from '../base/errors.ts';
import type { HostedProcess, ProcessExit, ProcessHost, SpawnRequest } from '../process/process-host.ts';
import { MAX_MESSAGE_BYTES, type LinkOptions, type McpLink, openLink, CLOSE_MS } from './link.ts';
import type { StdioServerSettings } from './server-settings.ts';

/** Variables that a server inherits in addition to the process host's own list, as with other MCP clients. */
const INHERITED_NAMES = ['LOGNAME', 'SHELL', 'USER'];

/** The end of a server's standard error that is kept to explain a failure. */
const STDERR_BYTES = 4 * 1_024;

/** Messages of one batch; a larger one ends the connection, since nothing else runs while they are delivered. */
const MAX_BATCH_MESSAGES = 1_000;

const LINE_FEED = 0x0a;

/** One child process, from its start to the end of its process group. */
export class StdioTransport implements Transport {
  // Set by the SDK's client before `start`.
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #host: ProcessHost;
  readonly #request: SpawnRequest;
  /** Set by `start`. */
  #process: HostedProcess | undefined;
  /** First reason for the end of the transport, once it has ended. */
  #endReason: string | undefined;
  #ending: Promise<void> | undefined;
  readonly #stderr: ReturnType<typeof outputTail>;
  /** Lines of standard output that were not JSON. */
  #ignoredLines = 0;

  constructor(host: ProcessHost, request: SpawnRequest) {
    this.#host = host;
    this.#request = request;
    this.#stderr = outputTail(STDERR_BYTES);
  }

  /** Start the child. @throws {GauntletError} As `HostedProcess.started`. */
  async start(): Promise<void> {
    const push = splitLines(
      MAX_MESSAGE_BYTES,
      (line) => this.#receive(line),
      () => void this.#end(`it sent a message of more than ${MAX_MESSAGE_BYTES} bytes`),
    );
    this.#process = this.#host.spawn({
      ...this.#request,
      stdin: 'pipe',
      onOutput: (stream, chunk) => (stream === 'stdout' ? push(chunk) : this.#stderr.push(chunk)),
    });
    // Rejects as `started` does; that failure is reported by the line below.
    this.#process.exited.then((exit) => this.#end(`it ${describeExit(exit)}`)).catch(() => undefined);
    await this.#process.started;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#process === undefined || this.#endReason !== undefined) throw new Error('The server is not running');
    await this.#process.write(`${JSON.stringify(message)}\n`);
  }

  /** End the process group. @returns Once all of it has ended. */
  async close(): Promise<void> {
    await this.#end('the connection was closed');
  }

  /** Describe the end, with the end of its standard error; for people. */
  describeEnd(): string {
    const stderrText = this.#stderr.text();
    const ignored = this.#ignoredLines === 0 ? '' : `; ${this.#ignoredLines} lines of its output were no JSON message`;
    return `${this.#endReason ?? 'it still runs'}${ignored}${stderrText === '' ? '' : `; its standard error ended with: ${stderrText}`}`;
  }

  #receive(line: Buffer): void {
    const messages = this.#parse(line);
    if (messages.length > MAX_BATCH_MESSAGES)
      return void this.#end(`it sent a batch of more than ${MAX_BATCH_MESSAGES} messages`);
    for (const message of messages) {
      // The SDK handles a notification one microtask later, and by then has dropped the progress handler of a request
      // that was answered. An answer in the same chunk is therefore delayed as well.
      if (isAnswer(message)) queueMicrotask(() => this.#deliver(message));
      else this.#deliver(message);
    }
  }

  #deliver(message: unknown): void {
    try {
      this.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      // An exception in the SDK's handler must not break the output loop.
      this.onerror?.(error instanceof Error ? error : new Error(errorMessage(error)));
    }
  }

  /** Parse a line into one message or those of a batch; empty if it is not JSON. */
  #parse(line: Buffer): readonly unknown[] {
    const text = line.toString('utf8').trim();
    if (text === '') return [];
    if (text.startsWith('{') || text.startsWith('[')) {
      try {
        const value: unknown = JSON.parse(text);
        return Array.isArray(value) ? value : [value];
      } catch {
        // Not JSON: some programs print diagnostics to standard output. Counted below.
      }
    }
    this.#ignoredLines++;
    return [];
  }

  #end(reason: string): Promise<void> {
    this.#endReason ??= reason;
    this.#ending ??= this.#endOnce();
    return this.#ending;
  }

  async #endOnce(): Promise<void> {
    const child = this.#process;
    // Pending calls fail now, before the process group has ended.
    this.onclose?.();
    if (child === undefined) return;
    child.end();
    const stop = new AbortController();
    // Rejects for a child that never started, which leaves nothing to wait for.
    const exited = child.exited.then(
      () => undefined,
      () => undefined,
    );
    await Promise.race([exited, delay(CLOSE_MS, undefined, { signal: stop.signal }).catch(() => undefined)]);
    stop.abort();
    // The host reports processes that it could not end; the connection is over either way.
    await child.killTree().catch((error: unknown) => this.onerror?.(new Error(errorMessage(error))));
  }
}

function isAnswer(message: unknown): boolean {
  return typeof message === 'object' && message !== null && !('method' in message);
}

function describeExit({ code, signal }: ProcessExit): string {
  return signal === null ? `exited with code ${code ?? 'unknown'}` : `was ended by ${signal}`;
}

/**
 * Create a line splitter for one stream.
 *
 * @param maxBytes Longest line, complete or not.
 * @param onLine Called for each complete line, without its line feed.
 * @param onOverflow Called once, when a line exceeds `maxBytes`; everything after it is dropped.
 */
export function splitLines(maxBytes: number, onLine: (line: Buffer) => void, onOverflow: () => void) {
  // Chunks of the incomplete line, concatenated once when its end arrives.
  let partialLine: Buffer[] = [];
  let partialBytes = 0;
  let hasOverflowed = false;

  return function push(chunk: Buffer): void {
    let start = 0;
    while (!hasOverflowed) {
      const end = chunk.indexOf(LINE_FEED, start);
      const piece = chunk.subarray(start, end === -1 ? undefined : end);
      partialBytes += piece.length;
      if (partialBytes > maxBytes) {
        hasOverflowed = true;
        partialLine = [];
        return onOverflow();
      }
      if (piece.length > 0) partialLine.push(piece);
      if (end === -1) return;
      const [only] = partialLine;
      onLine(partialLine.length === 1 && only !== undefined ? only : Buffer.concat(partialLine));
      partialLine = [];
      partialBytes = 0;
      start = end + 1;
    }
  };
}

/** Keeps the last bytes pushed. */
interface OutputTail {
  push(chunk: Buffer): void;
  /** The bytes kept, decoded and trimmed. */
  text(): string;
}

/** @param maxBytes Maximum of bytes kept. */
function outputTail(maxBytes: number): OutputTail {
  let kept = Buffer.alloc(0);
  return {
    push(chunk) {
      const joined = chunk.length >= maxBytes ? chunk : Buffer.concat([kept, chunk]);
      // Copied, so that a small tail does not hold a large chunk in memory.
      kept = Buffer.from(joined.subarray(Math.max(0, joined.length - maxBytes)));
    },
    text: () => kept.toString('utf8').trim(),
  };
}

/** Parts of the process that a stdio server needs. */
interface StdioEnvironment {
  readonly processHost: ProcessHost;
  /** Absolute path that relative working directories are resolved against. */
  readonly folder: string;
  readonly limits: LinkOptions['limits'];
}

/**
 * Start the server and perform the handshake. The protocol version is not probed, which would start a second process.
 *
 * @throws {GauntletError} `tool_failed` with the reason and the end of the server's standard error.
 */
export async function openStdioLink(
  settings: StdioServerSettings,
  { processHost, folder, limits }: StdioEnvironment,
  { handlers, signal }: Pick<LinkOptions, 'handlers' | 'signal'>,
): Promise<McpLink> {
  const transport = new StdioTransport(processHost, {
    file: settings.command,
    args: settings.args ?? [],
    cwd: resolve(folder, settings.cwd ?? '.'),
    env: { ...inheritedEnvironment(), ...settings.env },
  });
  const describeEnd = () => transport.describeEnd();
  try {
    return await openLink({ transport, mode: 'legacy', limits, handlers, describeEnd, signal });
  } catch (error) {
    // The process host's error is already complete.
    if (error instanceof GauntletError) throw error;
    const message = `Cannot start "${settings.command}": ${errorMessage(error)}; ${transport.describeEnd()}`;
    throw new GauntletError('tool_failed', message, { cause: error });
  }
}

/** Return the variables that programs of the settings inherit, beside those of the process host's own list. */
export function inheritedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    INHERITED_NAMES.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
