/**
 * `GET /tools`: the tool list for a model, serialised once.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { GauntletError } from '../src/base/errors.ts';
import type { SchemaChoice } from '../src/pool/describe.ts';
import { preambleText } from '../src/mcp/preamble.ts';
import { LIST_FORMATS, toolInFull, toolList, type ToolList } from '../src/pool/tool-list.ts';
import type { ToolPool } from '../src/pool/tool-pool.ts';
import { IdSchema, type ToolSearchForm } from '../src/wire/block-schema.ts';
import type { Dependencies } from './dependencies.ts';
import { queryNumber } from './query-number.ts';
import { type App, toolModeSchema } from './request-schemas.ts';

/** Names in one request. */
const MAX_NAMES_CHARS = 10_000;

/** Tools in one list: far more than a model is given. */
const MAX_TOOLS = 10_000;

const ToolAddress = z.strictObject({ name: IdSchema });

/** Register the routes of the tool list and of a single tool. */
export function toolsDoor(app: App, dependencies: Dependencies): void {
  const { defaultToolMode } = dependencies;
  const Viewpoint = z.strictObject({
    session_id: IdSchema.optional().describe('The list that this session may see'),
    mode: toolModeSchema(dependencies).optional().describe('The list of a tool mode; not with a session'),
  });
  const ListQuery = Viewpoint.extend({
    format: z
      .enum(LIST_FORMATS)
      .optional()
      .describe('Shape of the entries; absent: as `anthropic`, and deferred tools have no schema'),
    schemas: z.enum(['full', 'none']).optional().describe('All schemas, or names only; absent: by deferral'),
    strict: z.enum(['true', 'false']).default('false').describe('Strict schemas; for the formats of OpenAI'),
    names: z.string().min(1).max(MAX_NAMES_CHARS).optional().describe('The only tools to list, joined by commas'),
    max: queryNumber(1, MAX_TOOLS).optional().describe('Most tools; the built-in ones come first'),
  });

  async function viewFor(
    principal: string,
    query: z.output<typeof Viewpoint>,
  ): Promise<{ pool: ToolPool; toolSearch?: ToolSearchForm }> {
    if (query.session_id === undefined) {
      return { pool: dependencies.newSessionPool(principal, query.mode ?? defaultToolMode) };
    }
    if (query.mode !== undefined) {
      throw new GauntletError('invalid_request', 'Cannot list tools: name a session or a mode, not both');
    }
    const session = await dependencies.directory.open(principal, query.session_id);
    return { pool: session.pool(), toolSearch: session.toolSearch };
  }

  const listed = { summary: 'List the tools', reply: { json: 'Tools', text: ['text/plain'] } } as const;
  app.get('/tools', { schema: { querystring: ListQuery }, config: listed }, async (request, reply) => {
    const { format = 'anthropic', strict, max, names: joined } = request.query;
    const isStrict = strict === 'true';
    if (isStrict && !format.startsWith('openai-')) {
      const message = 'Cannot list tools: "strict" is for format "openai-chat" and "openai-responses"';
      throw new GauntletError('invalid_request', message, { details: { path: 'strict' } });
    }
    const names = joined?.split(',').map((name) => name.trim());
    const { pool, toolSearch } = await viewFor(request.principal, request.query);
    const schemas = request.query.schemas ?? schemasFor(request.query.format, toolSearch);
    return sendList(
      toolList(pool, { format, schemas, isStrict, names, max }, preambleText(dependencies.preamble(pool))),
      request,
      reply,
    );
  });

  const oneTool = { summary: 'One tool in full', reply: { json: 'Tool' } } as const;
  const schema = { params: ToolAddress, querystring: Viewpoint };
  app.get('/tools/:name', { schema, config: oneTool }, async (request, reply) => {
    const { name } = request.params;
    const { pool } = await viewFor(request.principal, request.query);
    const tool = toolInFull(pool, name);
    if (tool === undefined) throw new GauntletError('not_found', `There is no tool "${name}"`);
    return reply.send(tool);
  });
}

/** Choose the schemas of a list. One whose results refer to tools has all: the reference loads the tool from there. */
function schemasFor(format: string | undefined, toolSearch: ToolSearchForm | undefined): SchemaChoice {
  if (toolSearch === 'references') return 'full';
  return format === 'anthropic' ? 'open' : 'by deferral';
}

function sendList(list: ToolList, request: Pick<FastifyRequest, 'headers'>, reply: FastifyReply): FastifyReply {
  reply.header('etag', list.etag).header('cache-control', 'private, no-cache');
  if (matchesEtag(request.headers['if-none-match'], list.etag)) return reply.code(304).send();
  return reply.header('content-type', list.contentType).send(list.body);
}

function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((value) => value.trim() === '*' || value.trim().replace(/^W\//, '') === etag);
}
