/**
 * The SDK's transport over a child of the process host, so that a stdio server leads a process group
 * of its own and ends with everything it started.
 *
 * Newline-delimited JSON in both directions. What is no JSON message is ignored and counted.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Limits } from '../../config/limits.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import type { HostedProcess, ProcessExit, ProcessHost, SpawnRequest } from '../process/process-host.ts';
import { type LinkOptions, type McpLink, openLink } from './link.ts';
import type { StdioServerSettings } from './server-settings.ts';

/** Names a server inherits beside the process host's own list, as other MCP clients hand them down. */
const INHERITED_NAMES = ['LOGNAME', 'SHELL', 'USER'];

const LINE_FEED = 0x0a;

/** What the transport is bounded by. */
export type StdioLimits = Pick<Limits, 'mcpMessageBytes' | 'mcpStderrBytes' | 'mcpCloseMs'>;

/** One child, from its start to the end of its group. */
export class StdioTransport implements Transport {
  // Set by the SDK's client before `start`.
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #host: ProcessHost;
  readonly #request: SpawnRequest;
  readonly #limits: StdioLimits;
  /** From `start` on. */
  #process: HostedProcess | undefined;
  /** Why the transport ended, once it has; the first reason stays. */
  #endReason: string | undefined;
  #ending: Promise<void> | undefined;
  readonly #stderr: ReturnType<typeof outputTail>;
  /** Lines of standard output that were no message. */
  #ignoredLines = 0;

  constructor(host: ProcessHost, request: SpawnRequest, limits: StdioLimits) {
    this.#host = host;
    this.#request = request;
    this.#limits = limits;
    this.#stderr = outputTail(limits.mcpStderrBytes);
  }

  /** Start the child. @throws {GauntletError} As `HostedProcess.started`. */
  async start(): Promise<void> {
    const push = splitLines(
      this.#limits.mcpMessageBytes,
      (line) => this.#receive(line),
      () => void this.#end(`it sent a message of more than ${this.#limits.mcpMessageBytes} bytes`),
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

  /** End the whole group. Resolves when none of it is left. */
  async close(): Promise<void> {
    await this.#end('the connection was closed');
  }

  /** Why it ended, with the last words of its standard error; for people. */
  describeEnd(): string {
    const said = this.#stderr.text();
    const ignored = this.#ignoredLines === 0 ? '' : `; ${this.#ignoredLines} lines of its output were no JSON message`;
    return `${this.#endReason ?? 'it still runs'}${ignored}${said === '' ? '' : `; its standard error ended with: ${said}`}`;
  }

  #receive(line: Buffer): void {
    for (const message of this.#parse(line)) {
      // The SDK looks at a notification one microtask later, and by then forgets whose progress it is if it has
      // seen the answer: one that came in the same chunk waits its turn.
      if (isAnswer(message)) queueMicrotask(() => this.#deliver(message));
      else this.#deliver(message);
    }
  }

  #deliver(message: unknown): void {
    try {
      this.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      // A message that breaks the SDK's reader must not break the server's output loop.
      this.onerror?.(error instanceof Error ? error : new Error(errorMessage(error)));
    }
  }

  /** The messages of a line: one, or those of a batch; none when it is not a message. */
  #parse(line: Buffer): readonly unknown[] {
    const text = line.toString('utf8').trim();
    if (text === '') return [];
    if (text.startsWith('{') || text.startsWith('[')) {
      try {
        const value: unknown = JSON.parse(text);
        return Array.isArray(value) ? value : [value];
      } catch {
        // Not JSON: programs print to standard output what they should not. Counted below.
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
    // Pending calls fail now; they need not wait for the group to be gone.
    this.onclose?.();
    if (child === undefined) return;
    child.end();
    const stop = new AbortController();
    // A child that never started has nothing to wait for.
    const exited = child.exited.then(
      () => undefined,
      () => undefined,
    );
    await Promise.race([
      exited,
      delay(this.#limits.mcpCloseMs, undefined, { signal: stop.signal }).catch(() => undefined),
    ]);
    stop.abort();
    // What the host could not end is its own to report; the connection is over either way.
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
 * Make a splitter for one stream.
 *
 * @param maxBytes Longest line; the unfinished one included.
 * @param onLine Called for each whole line, without its line feed.
 * @param onOverflow Called once, when a line grew past `maxBytes`; what comes after is dropped.
 */
export function splitLines(maxBytes: number, onLine: (line: Buffer) => void, onOverflow: () => void) {
  // The line that has begun and not ended; chunks are joined once, when its end arrives.
  let begun: Buffer[] = [];
  let begunBytes = 0;
  let hasOverflowed = false;

  return function push(chunk: Buffer): void {
    let start = 0;
    while (!hasOverflowed) {
      const end = chunk.indexOf(LINE_FEED, start);
      const piece = chunk.subarray(start, end === -1 ? undefined : end);
      begunBytes += piece.length;
      if (begunBytes > maxBytes) {
        hasOverflowed = true;
        begun = [];
        return onOverflow();
      }
      if (piece.length > 0) begun.push(piece);
      if (end === -1) return;
      const [only] = begun;
      onLine(begun.length === 1 && only !== undefined ? only : Buffer.concat(begun));
      begun = [];
      begunBytes = 0;
      start = end + 1;
    }
  };
}

/** Keeps the last bytes that were pushed. */
interface OutputTail {
  push(chunk: Buffer): void;
  /** What is kept, trimmed, as text. */
  text(): string;
}

/** @param maxBytes Most bytes kept, whatever is written. */
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

/** What a stdio server needs from its environment. */
interface StdioSurroundings {
  readonly processHost: ProcessHost;
  /** Absolute; where relative working directories start from. */
  readonly folder: string;
  readonly limits: StdioLimits & LinkOptions['limits'];
}

/**
 * Start the server and shake hands. The protocol era is not probed: that would start a second process.
 *
 * @throws {GauntletError} `tool_failed` with the reason and the end of the server's standard error.
 */
export async function openStdioLink(
  settings: StdioServerSettings,
  { processHost, folder, limits }: StdioSurroundings,
  { onListChanged, signal }: Pick<LinkOptions, 'onListChanged' | 'signal'>,
): Promise<McpLink> {
  const transport = new StdioTransport(
    processHost,
    {
      file: settings.command,
      args: settings.args ?? [],
      cwd: resolve(folder, settings.cwd ?? '.'),
      env: { ...inheritedEnvironment(), ...settings.env },
    },
    limits,
  );
  const describeEnd = () => transport.describeEnd();
  try {
    return await openLink({ transport, mode: 'legacy', limits, onListChanged, describeEnd, signal });
  } catch (error) {
    // The process host has said all there is to say.
    if (error instanceof GauntletError) throw error;
    const message = `Cannot start "${settings.command}": ${errorMessage(error)}; ${transport.describeEnd()}`;
    throw new GauntletError('tool_failed', message, { cause: error });
  }
}

function inheritedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    INHERITED_NAMES.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
