/** `gauntlet mcp`: speaks MCP over standard input and output, for a running server or one that it starts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { errorMessage } from '../../src/base/errors.ts';
import { UsageError } from '../command-line.ts';
import { findServer, readText, type RunningServer, send } from '../server-client.ts';

/** Parsed command line. */
interface McpCommand {
  readonly environment: NodeJS.ProcessEnv;
  readonly options: Readonly<Record<string, string | true>>;
}

/** Time for a server to start, and interval at which it is looked for. */
const START_MS = 20_000;
const LOOK_MS = 100;

/** Code of JSON-RPC for a failure of this side. */
const INTERNAL_ERROR = -32_603;

/**
 * Pass messages between standard input and output and the server, until the input ends. Nothing but MCP is written to
 * standard output.
 *
 * @returns 0
 * @throws {UsageError} If options contradict each other.
 * @throws {Error} If no server answers and none can be started.
 */
export async function serveStdio({ environment, options }: McpCommand): Promise<number> {
  const { url, session, cwd, mode } = options;
  if (session !== undefined && (cwd !== undefined || mode !== undefined))
    throw new UsageError('--session names a session that has a folder and a mode; leave out --cwd and --mode');
  const { server, end } = await joinServer(environment, typeof url === 'string' ? url : undefined);
  try {
    const isNew = cwd !== undefined || mode !== undefined;
    const sessionId = isNew ? await beginSession(server, { cwd, mode }) : session;
    const address = new URL('/mcp', server.url);
    if (typeof sessionId === 'string') address.searchParams.set('session_id', sessionId);
    await pump(address, server);
  } finally {
    await end();
  }
  return 0;
}

/** A server. */
interface JoinedServer {
  readonly server: RunningServer;
  /** Ends its process, if this command has started it. */
  end(): Promise<void>;
}

/** Find the running server, or start one at the address in the settings. */
async function joinServer(environment: NodeJS.ProcessEnv, url: string | undefined): Promise<JoinedServer> {
  const server = findServer(environment, url);
  const started: { child?: ChildProcess } = {};
  // Before the server starts: a client that gives up meanwhile leaves none behind.
  const end = endOnSignals(started);
  if (url !== undefined || (await answers(server))) return { server, end };
  const [program = ''] = process.argv.slice(1);
  // Its standard output is not ours: that belongs to MCP alone.
  const child = (started.child = spawn(process.execPath, [...process.execArgv, program, 'serve'], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  }));
  const deadlineMs = performance.now() + START_MS;
  while (performance.now() < deadlineMs) {
    // Another one may have started at the same time, and then ours ends.
    const hasEnded = child.exitCode !== null;
    if (await answers(server)) return { server, end };
    if (hasEnded) throw new Error(`The server that was started ended with ${child.exitCode}; its words are above`);
    await wait(LOOK_MS);
  }
  child.kill('SIGTERM');
  throw new Error(`No server answers at ${server.url.origin}, and the one that was started did not come up in time`);
}

async function answers(server: RunningServer): Promise<boolean> {
  try {
    await readText(await send(server, { method: 'GET', path: '/readyz', accept: 'application/json' }));
    return true;
  } catch {
    // Nothing listens there yet, or it is still starting.
    return false;
  }
}

/** End the process that was started, also when this one is told to end. @returns A function that ends it. */
function endOnSignals(started: { readonly child?: ChildProcess }): () => Promise<void> {
  async function end(): Promise<void> {
    const { child } = started;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(signal, () => void end().then(() => process.exit(0)));
  return end;
}

async function beginSession(
  server: RunningServer,
  options: { cwd?: string | true; mode?: string | true },
): Promise<string> {
  const body = { ...options, title: 'gauntlet mcp' };
  const reply = await send(server, { method: 'POST', path: '/sessions', accept: 'application/json', body });
  const { session_id: sessionId } = JSON.parse(await readText(reply)) as { session_id: string };
  return sessionId;
}

/** Pass messages in both directions until standard input ends. */
async function pump(address: URL, server: RunningServer): Promise<void> {
  const local = new StdioServerTransport();
  const remote = new RemoteServer(address, server, (message) => void local.send(message).catch(() => undefined));
  const closed = new Promise<void>((resolve) => (local.onclose = resolve));
  local.onmessage = (message) => void remote.send(message);
  local.onerror = (error) => process.stderr.write(`gauntlet mcp: ${error.message}\n`);
  await local.start();
  await closed;
  await remote.close();
}

/** The server's side. An MCP session that has ended there is begun again, without the client's noticing. */
class RemoteServer {
  readonly #address: URL;
  readonly #server: RunningServer;
  readonly #deliver: (message: JSONRPCMessage) => void;
  #transport: Promise<StreamableHTTPClientTransport>;
  #initialize: JSONRPCMessage | undefined;
  /** Ends with the reply to `initialize`, which later messages need: a client may send them before it has read that. */
  #begun: Promise<void> | undefined;
  #onBegun: (() => void) | undefined;
  /** Requests without a reply, by id: in the modern era an abort is what cancels one. */
  readonly #pending = new Map<RequestId, AbortController>();

  constructor(address: URL, server: RunningServer, deliver: (message: JSONRPCMessage) => void) {
    this.#address = address;
    this.#server = server;
    this.#deliver = deliver;
    this.#transport = this.#open();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (isInitializeRequest(message)) {
      this.#initialize = message;
      this.#begun = new Promise((resolve) => (this.#onBegun = resolve));
    } else await this.#begun;
    const abort = new AbortController();
    if (isJSONRPCRequest(message)) this.#pending.set(message.id, abort);
    if (this.#cancels(message)) return;
    const used = this.#transport;
    try {
      await (await used).send(message, { requestSignal: abort.signal });
    } catch (error) {
      if (abort.signal.aborted) return;
      if (isSessionLost(error) && this.#initialize !== undefined && message !== this.#initialize) {
        if (this.#transport === used) this.#transport = this.#reopen(used);
        return this.#again(message, abort.signal);
      }
      this.#fail(message, error);
    }
  }

  async close(): Promise<void> {
    try {
      const transport = await this.#transport;
      await transport.terminateSession();
      await transport.close();
    } catch {
      // The server has gone, and the MCP session with it.
    }
  }

  async #again(message: JSONRPCMessage, requestSignal: AbortSignal): Promise<void> {
    try {
      await (await this.#transport).send(message, { requestSignal });
    } catch (error) {
      this.#fail(message, error);
    }
  }

  /** Cancel a request of the modern era by its abort. @returns True if there is nothing to send. */
  #cancels(message: JSONRPCMessage): boolean {
    if (!('method' in message) || message.method !== 'notifications/cancelled' || this.#initialize) return false;
    const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
    if (requestId !== undefined) this.#pending.get(requestId)?.abort();
    return true;
  }

  async #open(): Promise<StreamableHTTPClientTransport> {
    const { token, hostHeader } = this.#server;
    const headers = { authorization: `Bearer ${token}`, ...(hostHeader !== undefined && { host: hostHeader }) };
    const transport = new StreamableHTTPClientTransport(this.#address, { requestInit: { headers } });
    transport.onmessage = (message) => this.#receive(transport, message);
    await transport.start();
    return transport;
  }

  /** Begin another MCP session as the client began its own; the reply is not the client's. */
  async #reopen(former: Promise<StreamableHTTPClientTransport>): Promise<StreamableHTTPClientTransport> {
    await (await former).close();
    const transport = await this.#open();
    const ready = new Promise<void>((resolve) => {
      transport.onmessage = (message) => {
        this.#learnVersion(transport, message);
        transport.onmessage = (later) => this.#receive(transport, later);
        resolve();
      };
    });
    if (this.#initialize) await transport.send(this.#initialize);
    await ready;
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return transport;
  }

  #receive(transport: StreamableHTTPClientTransport, message: JSONRPCMessage): void {
    this.#learnVersion(transport, message);
    if ((isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) && message.id !== undefined)
      this.#settle(message.id);
    this.#deliver(message);
  }

  /** A request has its reply. */
  #settle(id: RequestId): void {
    this.#pending.delete(id);
    if (isJSONRPCRequest(this.#initialize) && this.#initialize.id === id) this.#onBegun?.();
  }

  /** Requests after `initialize` name the version that was agreed on. */
  #learnVersion(transport: StreamableHTTPClientTransport, message: JSONRPCMessage): void {
    if (!isJSONRPCResultResponse(message) || !isJSONRPCRequest(this.#initialize) || message.id !== this.#initialize.id)
      return;
    const { protocolVersion } = message.result as { protocolVersion?: unknown };
    if (typeof protocolVersion === 'string') transport.setProtocolVersion(protocolVersion);
  }

  /** Answer a request that could not be delivered; a notification is lost with a word on standard error. */
  #fail(message: JSONRPCMessage, error: unknown): void {
    process.stderr.write(`gauntlet mcp: ${errorMessage(error)}\n`);
    if (!isJSONRPCRequest(message)) return;
    this.#settle(message.id);
    this.#deliver({ jsonrpc: '2.0', id: message.id, error: { code: INTERNAL_ERROR, message: errorMessage(error) } });
  }
}

/** Report whether the server does not know the MCP session any more: it ended there, or the server started again. */
function isSessionLost(error: unknown): boolean {
  return error instanceof SdkHttpError && error.status === 404;
}
