/**
 * Creates the MCP server of a session: its tools, its results and changed files as resources, its skills as prompts.
 */
import {
  type CallToolResult,
  type GetPromptResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Prompt,
  type ReadResourceResult,
  type Resource,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { isUtf8 } from 'node:buffer';
import { GauntletError } from '../../src/base/errors.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { toolList } from '../../src/pool/tool-list.ts';
import type { ToolPool } from '../../src/pool/tool-pool.ts';
import type { Session } from '../../src/session/session.ts';
import type { NoticeFrame } from '../../src/wire/frames.ts';
import { resultText } from '../../src/wire/result-text.ts';
import type { McpDoorContext } from './dependencies.ts';
import { toCallToolResult, toContent } from './content.ts';
import { toProtocolError } from './protocol-error.ts';
import { fileUri, parseResourceUri, resourceTemplates, resultUri } from './resource-uri.ts';
import type { SessionEvents } from './session-events.ts';
import { type CallEnd, type CallState, runCall } from './tool-call.ts';

/** Text of one resource, in characters, and size of a file, in bytes. */
const MAX_RESOURCE_SIZE = 4 * 1_024 * 1_024;

/** Text of a result that is read at once, in characters. */
const PAGE_CHARS = 200_000;

/** Results listed as resources, the latest first. */
const MAX_RESULTS = 1_000;

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
export function createSessionServer(options: SessionServerOptions): Server {
  const { version, skills } = options;
  const server = new Server(
    { name: 'gauntlet', title: 'Gauntlet', version },
    {
      instructions: INSTRUCTIONS,
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true },
        logging: {},
        ...(skills.list.length > 0 && { prompts: { listChanged: true } }),
      },
      requestState: { verify: options.verify },
    },
  );
  const run = async (name: string, input: JsonValue, context: ServerContext): Promise<[CallEnd, Session]> => {
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
  if (options.era === 'legacy') server.onclose = options.events.onNotice((notice) => void tell(server, notice));
  addResources(server, options);
  if (skills.list.length > 0) addPrompts(server, options, run);
  return server;
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

/** Answer a request; an error is converted to the protocol's own. */
async function answered<Result>(answer: () => Promise<Result>): Promise<Result> {
  try {
    return await answer();
  } catch (error) {
    throw toProtocolError(error);
  }
}

function addResources(server: Server, { session: findSession }: SessionServerOptions): void {
  server.setRequestHandler('resources/list', () =>
    answered(async () => {
      const session = await findSession();
      return { resources: [...(await fileResources(session)), ...(await resultResources(session))] };
    }),
  );
  server.setRequestHandler('resources/templates/list', () =>
    answered(async () => ({ resourceTemplates: resourceTemplates((await findSession()).id) })),
  );
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    answered(async (): Promise<ReadResourceResult> => {
      const session = await findSession();
      const address = parseResourceUri(uri);
      if (address?.sessionId !== session.id) throw noSuchResource(uri);
      try {
        if (address.kind === 'file') return { contents: [await fileContents(session, uri, address.path)] };
        return { contents: [{ uri, mimeType: 'text/plain', text: await wholeResult(session, address.toolUseId) }] };
      } catch (error) {
        // Both revisions have one error for what is not there, or not for this client.
        if (error instanceof GauntletError && ABSENT.has(error.code)) throw noSuchResource(uri, error.message);
        throw error;
      }
    }),
  );
}

const ABSENT: ReadonlySet<string> = new Set(['not_found', 'forbidden', 'gone', 'tool_failed']);

function noSuchResource(uri: string, why = 'Resource not found'): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.ResourceNotFound, `${why}: ${uri}`, { uri });
}

async function fileResources(session: Session): Promise<Resource[]> {
  const files = await session.changes.files();
  return files.map(({ path, changedAt, sizeBytes }) => ({
    uri: fileUri(session.id, path),
    name: path,
    description: 'A file that tools of the session changed',
    size: sizeBytes,
    annotations: { lastModified: changedAt },
  }));
}

/** List the results of which the model saw a part. */
async function resultResources(session: Session): Promise<Resource[]> {
  const resources: Resource[] = [];
  for await (const page of session.read(0, { live: false, onGap: () => undefined })) {
    for (const { type, frame } of page) {
      if (type !== 'result' || frame.type !== 'result' || !frame.call.spilled) continue;
      resources.push({
        uri: resultUri(session.id, frame.tool_use_id),
        name: `${frame.call.name} result`,
        description: `The whole text, ${frame.call.spilled.chars} characters`,
        mimeType: 'text/plain',
        annotations: { lastModified: frame.ts },
      });
    }
    if (resources.length > MAX_RESULTS) resources.splice(0, resources.length - MAX_RESULTS);
  }
  return resources.reverse();
}

async function fileContents(session: Session, uri: string, path: string): Promise<ReadResourceResult['contents'][0]> {
  const bytes = await session.changes.read(path, MAX_RESOURCE_SIZE);
  const isText = isUtf8(bytes) && !bytes.includes(0);
  return isText
    ? { uri, mimeType: 'text/plain', text: bytes.toString('utf8') }
    : { uri, mimeType: 'application/octet-stream', blob: bytes.toString('base64') };
}

async function wholeResult(session: Session, toolUseId: string): Promise<string> {
  let text = '';
  for (let offsetChars: number | undefined = 0; offsetChars !== undefined;) {
    const page = await session.history.resultText(toolUseId, { offsetChars, limitChars: PAGE_CHARS });
    if (page.total_chars > MAX_RESOURCE_SIZE) {
      const fix = `read it by range: GET /sessions/${session.id}/results/${toolUseId}`;
      throw new GauntletError('invalid_request', `The result has ${page.total_chars} characters; ${fix}`);
    }
    text += page.text;
    offsetChars = page.next_offset_chars;
  }
  return text;
}

/** Add the skills as prompts. A prompt is got by a call of the tool that loads skills, so that the gate decides. */
function addPrompts(
  server: Server,
  { session, skills }: SessionServerOptions,
  run: (name: string, input: JsonValue, context: ServerContext) => Promise<[CallEnd, Session]>,
): void {
  const isListed = async () => (await session()).pool().lookup(skills.tool) !== undefined;
  server.setRequestHandler('prompts/list', () =>
    answered(async () => ({ prompts: (await isListed()) ? skills.list.map(toPrompt) : [] })),
  );
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    answered(async (): Promise<GetPromptResult | InputRequiredResult> => {
      const { name, arguments: { arguments: args } = {} } = params;
      if (!skills.list.some((skill) => skill.name === name))
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${name}"`);
      const [end] = await run(skills.tool, { skill: name, ...(args !== undefined && { args }) }, context);
      if (end.kind === 'asks') return end.result;
      const [result] = end.reply.results;
      const content = toContent(result?.content ?? '');
      if (result?.is_error === true)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, resultText(result.content));
      return { messages: content.map((block) => ({ role: 'user', content: block })) };
    }),
  );
}

function toPrompt({ name, description, argumentHint }: McpDoorContext['skills']['list'][number]): Prompt {
  const argument = { name: 'arguments', description: argumentHint ?? 'Arguments of the skill, in one text' };
  return { name, description, arguments: [argument] };
}
