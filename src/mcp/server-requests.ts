/**
 * Requests of one server over one connection, each answered for the call that runs over it.
 *
 * A connection belongs to one session from its first answer on: what the server was told there is told to no other
 * session.
 */
import { createRateLimit } from '../base/pace.ts';
import { type LoggingMessageNotification, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { pathToFileURL } from 'node:url';
import type { ToolUseContext } from '../tool/tool.ts';
import { elicit } from './elicitation.ts';
import type { LinkHandlers } from './link-handlers.ts';
import { createSampling, type Sampler } from './sampling.ts';
import { visibleLine } from './visible-text.ts';

/** Log messages of one connection that become notices, in `LOG_RATE_MS`; the rest is dropped. */
const MAX_LOGS_IN_TIME = 20;
const LOG_RATE_MS = 60_000;

/** Longest notice made of a log message, in characters. */
const LOG_CHARS = 2_000;

/** A call that runs over a connection. */
export interface RunningCall {
  readonly context: Pick<ToolUseContext, 'sessionId' | 'session' | 'signal' | 'ask' | 'notify' | 'trace'>;
  readonly input: Readonly<Record<string, unknown>>;
  /** Stops the clock of the call while a person is asked. */
  whilePaused<Value>(work: () => Promise<Value>): Promise<Value>;
}

/** Options of `ServerRequests`. */
export interface ServerRequestsOptions {
  /** Name of the server, as configured. */
  readonly server: string;
  /** Absent: the server is told that no model can be asked. */
  readonly sampler?: Sampler | undefined;
  /** Session that the connection belongs to from the start. */
  readonly owner?: string;
  /** Replaces secrets in text of the server. */
  readonly mask: (text: string) => string;
}

/** The calls that run over one connection, and the answers to what its server asks meanwhile. */
export class ServerRequests {
  readonly #options: ServerRequestsOptions;
  readonly #calls = new Set<RunningCall>();
  #owner: string | undefined;
  /** Last call of the owner: it has the session's directories when no call runs. */
  #latest: RunningCall | undefined;
  #hasAsked = false;
  readonly #mayLog = createRateLimit(MAX_LOGS_IN_TIME, LOG_RATE_MS);

  constructor(options: ServerRequestsOptions) {
    this.#options = options;
    this.#owner = options.owner;
  }

  /** Session that the connection belongs to; undefined while it is shared. */
  get owner(): string | undefined {
    return this.#owner;
  }

  /** True if the server asked anything during a call. */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  get isIdle(): boolean {
    return this.#calls.size === 0;
  }

  /** Run a call; meanwhile the server may ask. */
  async during<Value>(call: RunningCall, work: () => Promise<Value>): Promise<Value> {
    this.#calls.add(call);
    if (this.#owner !== undefined) this.#latest = call;
    try {
      return await work();
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Handlers of the connection. */
  handlers(): LinkHandlers {
    const { server, sampler } = this.#options;
    const sample = sampler && createSampling(sampler);
    return {
      elicit: (params, signal) => {
        const call = this.#callThatIsAsked();
        const asking = { server, input: call.input, ask: call.context.ask };
        return call.whilePaused(() => elicit(params, asking, signal));
      },
      ...(sample && {
        sample: (params, signal) => {
          const call = this.#callThatIsAsked();
          const { ask, signal: stopped, trace } = call.context;
          const asking = { server, input: call.input, ask, signal: stopped, trace };
          return call.whilePaused(() => sample(params, asking, signal));
        },
      }),
      listRoots: () => Promise.resolve(rootsOf((this.#latest ?? this.#callThatIsAsked()).context)),
      onLog: (message) => this.#notify(message),
      logLevel: 'info',
    };
  }

  /** @throws {ProtocolError} If no call runs, or calls of several sessions. */
  #callThatIsAsked(): RunningCall {
    const calls = [...this.#calls];
    const last = calls.at(-1);
    if (last === undefined) throw refusal('no call of a tool is running');
    this.#hasAsked = true;
    if (new Set(calls.map(({ context }) => context.sessionId)).size > 1) {
      throw refusal('calls of several sessions are running over this connection. Call again: each has its own now');
    }
    this.#owner ??= last.context.sessionId;
    if (this.#owner !== last.context.sessionId) throw refusal('this connection belongs to another session');
    this.#latest = last;
    return last;
  }

  /** Tell the session of a message that the server logged during its call. */
  #notify({ level, logger, data }: LoggingMessageNotification['params']): void {
    const [call, ...others] = [...this.#calls];
    const isOfOne = others.every(({ context }) => context.sessionId === call?.context.sessionId);
    if (call === undefined || !isOfOne || level === 'debug') return;
    if (!this.#mayLog()) return;
    const { server, mask } = this.#options;
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
    const name = logger === undefined ? '' : ` (${logger})`;
    const line = visibleLine(`MCP server "${server}"${name}: ${mask(text.slice(0, 2 * LOG_CHARS))}`, LOG_CHARS);
    call.context.notify(noticeLevel(level), 'mcp_log', line);
  }
}

type LogLevel = LoggingMessageNotification['params']['level'];

function noticeLevel(level: LogLevel): 'info' | 'warning' | 'error' {
  if (level === 'info' || level === 'notice' || level === 'debug') return 'info';
  return level === 'warning' ? 'warning' : 'error';
}

/** Return the directories of a session. */
function rootsOf({ session }: RunningCall['context']) {
  const folders = new Set([session.root, ...session.permissions.additionalDirectories]);
  return [...folders].map((folder) => ({ uri: pathToFileURL(folder).href }));
}

function refusal(why: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidRequest, `Refused: ${why}`);
}
