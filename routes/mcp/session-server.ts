/**
 * Creates the MCP server of a session: its tools, its results and changed files as resources, its skills as prompts.
 */
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import type { JsonValue } from '../../src/base/json.ts';
import { toolList } from '../../src/pool/tool-list.ts';
import type { ToolPool } from '../../src/pool/tool-pool.ts';
import type { Session } from '../../src/session/session.ts';
import type { NoticeFrame } from '../../src/wire/frames.ts';
import { resultText } from '../../src/wire/result-text.ts';
import type { McpDoorContext } from './dependencies.ts';
import { toCallToolResult } from './content.ts';
import { answered } from './protocol-error.ts';
import { addCompletions } from './session-completions.ts';
import type { SessionEvents } from './session-events.ts';
import { addPrompts, mayHavePrompts } from './session-prompts.ts';
import { addResources } from './session-resources.ts';
import { addSubscriptions } from './session-subscriptions.ts';
import { type CallEnd, type CallState, runCall, type RunBlock } from './tool-call.ts';

const INSTRUCTIONS =
  'Tools run on the machine of this server, behind permission rules: a call may be denied, or a person may be asked first.';

/** Dependencies of the server of a session. */
export interface SessionServerOptions extends McpDoorContext {
  readonly era: 'legacy' | 'modern';
  /** Return the session, loaded where it is not in memory. @throws {GauntletError} `not_found` */
  session(): Promise<Session>;
  readonly events: SessionEvents;
  mint(state: CallState, context: ServerContext): Promise<string>;
  verify(state: string, context: ServerContext): Promise<CallState>;
}

/** Create the server. It is not connected. */
export async function createSessionServer(options: SessionServerOptions): Promise<Server> {
  const hasPrompts = mayHavePrompts(options);
  const hasUpstreams = options.upstreams.states().some(({ state }) => state !== 'disabled');
  const { version } = options;
  const server = new Server(
    { name: 'gauntlet', title: 'Gauntlet', version },
    {
      instructions: await instructionsFor(options),
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, ...(hasUpstreams && { subscribe: true }) },
        logging: {},
        ...(hasPrompts && { prompts: { listChanged: true } }),
        ...(hasUpstreams && { completions: {} }),
      },
      requestState: { verify: options.verify },
    },
  );
  const run: RunBlock = async (name, input, context) => {
    const session = await options.session();
    const { era, mint, logger } = options;
    const askTimeoutMs = options.limits.askTimeoutMs;
    const onFault = (error: unknown, what: string) => logger.error({ err: error }, what);
    const end = await runCall({ session, name, input, server, context, era, askTimeoutMs, mint, onFault });
    return [end, session];
  };
  server.setRequestHandler('tools/list', async () => ({ tools: mcpTools((await options.session()).pool()) }));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    answered(async (): Promise<CallToolResult | InputRequiredResult> => {
      const [end, session] = await run(params.name, (params.arguments ?? {}) as JsonValue, context);
      if (end.kind === 'asks') return end.result;
      const [call] = end.reply.calls;
      if (call?.error_code === 'unknown_tool') throw unknownTool(end);
      return toCallToolResult(session.id, end.reply);
    }),
  );
  if (options.era === 'legacy') {
    const endNotices = options.events.onNotice((notice) => void tell(server, notice));
    const endSubscriptions = hasUpstreams ? addSubscriptions(server, options) : undefined;
    server.onclose = () => {
      endNotices();
      endSubscriptions?.();
    };
  }
  addResources(server, options, run);
  if (hasPrompts) addPrompts(server, options, run);
  if (hasUpstreams) addCompletions(server, options);
  return server;
}

/** Return what a client's model is told first: of the gate, and what MCP servers say of their tools. */
async function instructionsFor({ session, preamble }: SessionServerOptions): Promise<string> {
  const { instructions } = preamble((await session()).pool()) ?? {};
  return instructions === undefined ? INSTRUCTIONS : `${INSTRUCTIONS}\n\n${instructions}`;
}

/** Send a notice as a log message, where the client has asked for its level. */
async function tell(server: Server, { level, code, message }: NoticeFrame): Promise<void> {
  try {
    await server.sendLoggingMessage({ level, logger: code, data: message });
  } catch {
    // The client went away meanwhile.
  }
}

const listed = new WeakMap<ToolPool, Tool[]>();

/** List the tools of a pool: the same array for the same pool. */
export function mcpTools(pool: ToolPool): Tool[] {
  const known = listed.get(pool);
  if (known) return known;
  const { body } = toolList(pool, { format: 'mcp', schemas: 'full' });
  const { tools } = JSON.parse(body.toString('utf8')) as { tools: Tool[] };
  // A client refuses the result of a tool that promises structured output and gives text.
  const made = tools.map(({ outputSchema: _promised, ...tool }) => tool);
  listed.set(pool, made);
  return made;
}

function unknownTool({ reply }: Extract<CallEnd, { kind: 'done' }>): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, resultText(reply.results[0]?.content ?? 'Unknown tool'));
}
