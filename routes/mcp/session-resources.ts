/**
 * The resources of a session for MCP clients: its results, the files that it changed, and those of MCP servers.
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  type InputRequiredResult,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplateType as ResourceTemplate,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isUtf8 } from 'node:buffer';
import { GauntletError } from '../../src/base/errors.ts';
import type { Session } from '../../src/session/session.ts';
import { resultText } from '../../src/wire/result-text.ts';
import type { McpDoorContext } from './dependencies.ts';
import { toContent } from './content.ts';
import { answered } from './protocol-error.ts';
import {
  fileUri,
  parseResourceUri,
  type ResourceAddress,
  resourceTemplates,
  resultUri,
  upstreamUri,
} from './resource-uri.ts';
import type { CallEnd, RunBlock } from './tool-call.ts';
import { visibleUpstreams } from './visible-upstreams.ts';

/** Text of one resource, in characters, and size of a file, in bytes. */
const MAX_RESOURCE_SIZE = 4 * 1_024 * 1_024;

/** Text of a result that is read at once, in characters. */
const PAGE_CHARS = 200_000;

/** Results listed as resources, the latest first. */
const MAX_RESULTS = 1_000;

/** Resources of MCP servers in one list. */
const MAX_UPSTREAM_ENTRIES = 2_000;

/** Dependencies of the resources. */
export interface ResourceOptions extends Pick<McpDoorContext, 'upstreams' | 'resourceTool'> {
  /** Return the session, loaded where it is not in memory. @throws {GauntletError} `not_found` */
  session(): Promise<Session>;
}

/** Add the resources. One of an MCP server is read by a call of the tool for it, so that the gate decides. */
export function addResources(server: Server, options: ResourceOptions, run: RunBlock): void {
  server.setRequestHandler('resources/list', (_request, context) =>
    answered(async () => {
      const session = await options.session();
      const { upstreams } = options;
      const ofServers = fromUpstreams(options, session, context, async (name, signal) => {
        const resources = await upstreams.recentResources(name, signal, session.principal);
        return resources.map(({ uri, name: label = uri, ...about }) =>
          compact({ uri: upstreamUri(session.id, name, uri), name: label, ...about }),
        );
      });
      const own = [...(await fileResources(session)), ...(await resultResources(session))];
      return { resources: [...own, ...(await ofServers)] };
    }),
  );
  server.setRequestHandler('resources/templates/list', (_request, context) =>
    answered(async () => {
      const session = await options.session();
      const { upstreams } = options;
      const ofServers = await fromUpstreams(options, session, context, async (name, signal) => {
        const templates = await upstreams.recentTemplates(name, signal, session.principal);
        return templates.map(({ uriTemplate, name: label = uriTemplate, ...about }) =>
          compact({ uriTemplate: upstreamUri(session.id, name, uriTemplate), name: label, ...about }),
        );
      });
      return { resourceTemplates: [...(resourceTemplates(session.id) as ResourceTemplate[]), ...ofServers] };
    }),
  );
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) =>
    answered(async (): Promise<ReadResourceResult | InputRequiredResult> => {
      const session = await options.session();
      const address = parseResourceUri(uri);
      if (address?.sessionId !== session.id) throw noSuchResource(uri);
      if (address.kind === 'upstream') return readUpstream(uri, address, options, run, context);
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

/** Leave out absent members. */
function compact<Entry extends object>(entry: Entry): Entry {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as Entry;
}

/** Collect the entries of all MCP servers that a session sees, of a slow one as they were last. */
async function fromUpstreams<Entry>(
  options: ResourceOptions,
  session: Session,
  { mcpReq }: ServerContext,
  list: (name: string, signal: AbortSignal) => Promise<readonly Entry[]>,
): Promise<Entry[]> {
  const lists = await Promise.all(visibleUpstreams(options, session).map((name) => list(name, mcpReq.signal)));
  return lists.flat().slice(0, MAX_UPSTREAM_ENTRIES);
}

async function readUpstream(
  uri: string,
  { sessionId, server, uri: sentUri }: Extract<ResourceAddress, { kind: 'upstream' }>,
  { resourceTool }: ResourceOptions,
  run: RunBlock,
  context: ServerContext,
): Promise<ReadResourceResult | InputRequiredResult> {
  const [end] = await run(resourceTool, { server, uri: sentUri }, context);
  if (end.kind === 'asks') return end.result;
  const [result] = end.reply.results;
  if (!result || result.is_error === true) throw noSuchResource(uri, resultText(result?.content ?? ''));
  return { contents: wholeContents(end, sessionId, server) ?? shownContents(uri, result.content) };
}

/** Return the contents as the server sent them; undefined if they were too large to keep or a hook changed them. */
function wholeContents(
  { reply }: Extract<CallEnd, { kind: 'done' }>,
  sessionId: string,
  server: string,
): ReadResourceResult['contents'] | undefined {
  const sent = reply.mcpResults[0]?.['content'];
  if (!Array.isArray(sent)) return undefined;
  type Embedded = { readonly resource: ReadResourceResult['contents'][number] };
  return (sent as unknown as readonly Embedded[]).map(({ resource }) => ({
    ...resource,
    uri: upstreamUri(sessionId, server, resource.uri),
  }));
}

function shownContents(uri: string, content: Parameters<typeof toContent>[0]): ReadResourceResult['contents'] {
  return toContent(content).flatMap((block) => {
    if (block.type === 'text') return [{ uri, text: block.text }];
    if (block.type === 'image') return [{ uri, mimeType: block.mimeType, blob: block.data }];
    return block.type === 'resource' ? [{ ...block.resource, uri }] : [];
  });
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
