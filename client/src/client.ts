/**
 * Connects to a Gauntlet server: the tools of a session, and the calls of any model.
 */
import { type CallSource, type GivenCalls, type Provider, readCalls } from './calls.ts';
import { GauntletError } from './errors.ts';
import { type Approval, Executor, type OnProgress, type TurnOptions, type TurnResult } from './executor.ts';
import { Forwarding, type WebSocketConstructor } from './forward.ts';
import { createHttp, type Http } from './http.ts';
import type { OnAsk } from './questions.ts';
import { type Appended, appendedFor } from './replies.ts';
import { Runner, type RunOptions, type RunResult } from './run.ts';
import type { StreamEvent } from './stream-calls.ts';
import type { CallSummary, NewMessage, PermissionMode, RuleSet, SessionDescription, ToolResultBlock } from './wire.ts';

/** Where the server is by default. */
const DEFAULT_URL = 'http://127.0.0.1:4747';

/** A session to begin: the fields of `POST /sessions`. */
export interface SessionOptions {
  readonly cwd?: string;
  readonly mode?: PermissionMode;
  readonly rules?: Partial<RuleSet>;
  readonly additional_directories?: readonly string[];
  readonly tool_mode?: 'normal' | 'simple' | 'repl';
  readonly on_ask?: 'deny' | 'wait';
  readonly title?: string;
  /** The only tools that the session sees: names, aliases and `mcp__server`. */
  readonly tools?: readonly string[];
  readonly output_schema?: object;
  /** Form of ToolSearch's results: `references` is for the Messages API, which loads the tools that they name. */
  readonly tool_search?: 'text' | 'references';
}

/** Options of `connect`. */
export interface ConnectOptions {
  /** Absent: `http://127.0.0.1:4747`. */
  readonly url?: string;
  readonly token: string;
  /** Id of a session, or what a new one begins with. */
  readonly session?: string | SessionOptions;
  /** Answers the questions of the session. Absent: they are denied, unless somebody else watches the session. */
  readonly onAsk?: OnAsk;
  /** Gets the frames of the session while calls of this client run. */
  readonly onProgress?: OnProgress;
  /** Closes the client. */
  readonly signal?: AbortSignal;
  readonly fetch?: typeof globalThis.fetch;
  /** Needed by `forward` where the platform has none, as Node 20: hand in that of the package `ws`. */
  readonly WebSocket?: WebSocketConstructor;
}

/** A tool of the Messages API. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: JsonSchema;
  strict?: boolean;
  /** The API loads the definition where a result of ToolSearch names the tool. */
  defer_loading?: boolean;
}

/** A tool of Chat Completions. */
export interface ChatTool {
  type: 'function';
  function: { name: string; description: string; parameters: JsonSchema; strict?: boolean };
}

/** A tool of Responses. */
export interface ResponsesTool {
  type: 'function';
  name: string;
  description: string;
  parameters: JsonSchema;
  strict: boolean;
}

/** A function declaration of the Gemini API. */
export interface GeminiTool {
  name: string;
  description: string;
  parametersJsonSchema: JsonSchema;
}

/** The schema of an input. */
export interface JsonSchema {
  type: 'object';
  properties?: Record<string, unknown>;
  required?: string[];
  [keyword: string]: unknown;
}

/** By provider: a tool definition. */
export interface ToolFormats {
  anthropic: AnthropicTool;
  'openai-chat': ChatTool;
  'openai-responses': ResponsesTool;
  gemini: GeminiTool;
}

/** Which tools are listed. */
export interface ToolsOptions {
  /** Only these, in the order of the server. */
  readonly names?: readonly string[];
  /** True leaves the schemas of deferred tools to ToolSearch, for lists that would be too long. */
  readonly deferred?: boolean;
  readonly signal?: AbortSignal;
}

/** Outcome of a turn. */
export interface Reply<P extends Provider = Provider> {
  readonly session_id: string;
  readonly turn_id: string;
  /** One for each call, in the order of the calls, with the provider's ids. */
  readonly results: readonly ToolResultBlock[];
  /** Outcome of each call. */
  readonly calls: readonly CallSummary[];
  readonly new_messages: readonly NewMessage[];
  /** Messages to append to the conversation, in the form of the API that the calls came from. Empty: no calls. */
  readonly append: Appended[P][];
}

/** Decision that a call would get, with its reason. */
export interface Explanation {
  readonly behavior: 'allow' | 'ask' | 'deny';
  readonly message: string;
  readonly destructive: boolean;
  /** Dangers of the call, one sentence each. */
  readonly warnings: readonly string[];
  /** Handed to `run` once a person has said yes. It counts once, for this input, while the permissions stay. */
  readonly approval: Approval;
}

/** A stream that passes through; iterate over it as over the stream itself. */
export interface ForwardedStream<Event, P extends Provider> extends AsyncIterable<Event> {
  /** Wait for the results of the calls. Reads the rest of the stream, where nobody else does. @throws {GauntletError} */
  reply(): Promise<Reply<P>>;
}

/** The API that calls came from. */
export type ProviderOf<Source> = Source extends { readonly tool_calls: unknown }
  ? 'openai-chat'
  : Source extends { readonly output: unknown }
    ? 'openai-responses'
    : Source extends { readonly function_calls: unknown }
      ? 'gemini'
      : 'anthropic';

/** The API that a stream comes from. */
export type ProviderOfStream<Event> = Event extends { readonly choices: unknown }
  ? 'openai-chat'
  : Event extends { readonly sequence_number: number }
    ? 'openai-responses'
    : 'anthropic';

/** A connection to one session. */
export interface Client {
  readonly url: string;
  readonly sessionId: string;
  /** List the tools of the session, as the API of the format takes them. @throws {GauntletError} */
  tools<F extends Provider = 'anthropic'>(format?: F, options?: ToolsOptions): Promise<ToolFormats[F][]>;
  /**
   * Execute the calls of a message and wait for their results. A cut connection costs time alone: nothing runs twice.
   *
   * @throws {GauntletError} What the server refuses. Calls that fail or are denied are results.
   */
  execute<Source extends CallSource>(source: Source, options?: TurnOptions): Promise<Reply<ProviderOf<Source>>>;
  /** Look at how a call would be decided. Nothing runs, and nobody is asked. @throws {GauntletError} */
  explain(name: string, input: unknown): Promise<Explanation>;
  /** Run a call and wait for its result. @throws {GauntletError} A call that fails or is denied is a result. */
  run(name: string, input: unknown, options?: RunOptions): Promise<RunResult>;
  /**
   * Pass the stream of a model through, and execute its calls while the model still writes.
   *
   * @throws {GauntletError} `no_websocket`
   */
  forward<Event extends StreamEvent>(
    stream: AsyncIterable<Event>,
    options?: TurnOptions,
  ): ForwardedStream<Event, ProviderOfStream<Event>>;
  /** Cancel what runs, and end all waits. The session stays. */
  close(): void;
}

/**
 * Connect to a server, and begin a session or go on with one.
 *
 * @throws {GauntletError}
 */
export async function connect(options: ConnectOptions): Promise<Client> {
  const { url = DEFAULT_URL, token, session = {}, onAsk, onProgress } = options;
  const fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  const http = createHttp(url, token, fetch);
  const ending = new AbortController();
  const closed = options.signal ? AbortSignal.any([options.signal, ending.signal]) : ending.signal;
  const isOld = typeof session === 'string';
  const opened = isOld
    ? await http.request<SessionDescription>('GET', `/sessions/${encodeURIComponent(session)}`, { signal: closed })
    : await http.request<SessionDescription>('POST', '/sessions', {
        body: { ...(onAsk && { on_ask: 'wait' }), ...session },
        signal: closed,
        mayRepeat: false,
      });
  const { session_id: sessionId, head } = opened;
  const executor = new Executor({ http, sessionId, head, isOld, closed, onAsk, onProgress });
  const runner = new Runner(executor);
  closed.addEventListener('abort', () => executor.close(), { once: true });
  const deniesQuestions = onAsk === undefined && opened.on_ask !== 'wait';

  return {
    url: http.url,
    sessionId,
    tools: (format, listing) => listTools(http, sessionId, format ?? 'anthropic', listing) as never,
    async execute(source, turn = {}) {
      const given = readCalls(source);
      if (given.calls.length === 0) return replyOf(given, sessionId) as never;
      const prepared = executor.prepare(given, turn.turnId);
      return replyOf(given, sessionId, await executor.execute(prepared, given, turn)) as never;
    },
    async explain(name, input) {
      const path = `/sessions/${encodeURIComponent(sessionId)}/permissions/explain`;
      const body = { name, input };
      const { digest, context_version, ...rest } = await http.request<Explained>('POST', path, { body });
      return { ...rest, approval: { digest, context_version } };
    },
    run: (name, input, one) => runner.run(name, input, one),
    forward(stream, turn = {}) {
      const WebSocket = webSocketOf(options);
      const parts = { http, sessionId, executor, closed, WebSocket, deniesQuestions };
      const passing = new Forwarding(stream, parts, turn);
      return {
        [Symbol.asyncIterator]: () => passing.events,
        async reply() {
          const { given, result } = await passing.result();
          return replyOf(given, sessionId, result) as never;
        },
      };
    },
    close: () => ending.abort(new GauntletError('closed', 'The client was closed')),
  };
}

async function listTools(
  http: Http,
  sessionId: string,
  format: Provider,
  { names, deferred = false, signal }: ToolsOptions = {},
): Promise<(ListedTool | GeminiTool)[]> {
  const listed = format === 'gemini' ? 'anthropic' : format;
  const schemas = deferred ? '' : '&schemas=full';
  const path = `/tools?format=${listed}${schemas}&session_id=${encodeURIComponent(sessionId)}`;
  const { tools } = await http.request<{ tools: ListedTool[] }>('GET', path, { signal });
  const chosen = names === undefined ? tools : tools.filter((tool) => names.includes(nameOf(tool)));
  return format === 'gemini' ? chosen.map(toGemini) : chosen;
}

/** @throws {GauntletError} `no_websocket` */
function webSocketOf(options: ConnectOptions): WebSocketConstructor {
  const { WebSocket } = globalThis as { WebSocket?: WebSocketConstructor };
  const given = options.WebSocket ?? WebSocket;
  if (given !== undefined) return given;
  const advice = 'pass that of the package "ws" to connect() as "WebSocket", or use execute()';
  throw new GauntletError('no_websocket', `forward() needs a WebSocket, and this platform has none: ${advice}`);
}

type Explained = Omit<Explanation, 'approval'> & Approval;

type ListedTool = AnthropicTool | ChatTool | ResponsesTool;

function nameOf(tool: ListedTool): string {
  return 'function' in tool ? tool.function.name : tool.name;
}

function toGemini(tool: ListedTool): GeminiTool {
  const { name, description, input_schema } = tool as AnthropicTool;
  return { name, description, parametersJsonSchema: input_schema };
}

/** Give the results the ids of their provider. */
function replyOf(
  { provider, calls }: GivenCalls,
  sessionId: string,
  result: TurnResult = { session_id: sessionId, turn_id: '', results: [], calls: [] },
): Reply {
  const { new_messages = [] } = result;
  const named = result.results.map((block, index) => ({
    name: calls[index]?.name ?? '',
    id: calls[index]?.id,
    result: block,
  }));
  return {
    session_id: result.session_id,
    turn_id: result.turn_id,
    results: named.map(({ id, result: block }) => ({ ...block, tool_use_id: id ?? block.tool_use_id })),
    calls: result.calls.map((call, index) => ({ ...call, tool_use_id: calls[index]?.id ?? call.tool_use_id })),
    new_messages,
    append: appendedFor(provider, named, new_messages),
  };
}
