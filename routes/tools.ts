/**
 * `GET /tools`: the tool list for a model, serialised once.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { GauntletError } from '../src/base/errors.ts';
import { LIST_FORMATS, toolInFull, toolList, type ToolList } from '../src/pool/tool-list.ts';
import type { ToolPool } from '../src/pool/tool-pool.ts';
import { IdSchema } from '../src/wire/block-schema.ts';
import type { Dependencies } from './dependencies.ts';
import { type App, toolModeSchema } from './request-schemas.ts';

const ToolAddress = z.strictObject({ name: IdSchema });

/** Register the routes of the tool list and of a single tool. */
export function toolsDoor(app: App, dependencies: Dependencies): void {
  const { defaultToolMode } = dependencies;
  const Viewpoint = z.strictObject({
    session_id: IdSchema.optional().describe('The list that this session may see'),
    mode: toolModeSchema(dependencies).optional().describe('The list of a tool mode; not with a session'),
  });
  const ListQuery = Viewpoint.extend({
    format: z.enum(LIST_FORMATS).default('anthropic').describe('Shape of the entries'),
    schemas: z.enum(['full', 'none']).optional().describe('All schemas, or names only; absent: by deferral'),
  });

  async function poolFor(principal: string, query: z.output<typeof Viewpoint>): Promise<ToolPool> {
    if (query.session_id === undefined) {
      return dependencies.newSessionPool(principal, query.mode ?? defaultToolMode);
    }
    if (query.mode !== undefined) {
      throw new GauntletError('invalid_request', 'Cannot list tools: name a session or a mode, not both');
    }
    return (await dependencies.directory.open(principal, query.session_id)).pool();
  }

  const listed = { summary: 'List the tools', reply: { json: 'Tools', text: ['text/plain'] } } as const;
  app.get('/tools', { schema: { querystring: ListQuery }, config: listed }, async (request, reply) => {
    const { format, schemas = 'by deferral' } = request.query;
    const pool = await poolFor(request.principal, request.query);
    return sendList(toolList(pool, { format, schemas }), request, reply);
  });

  const oneTool = { summary: 'One tool in full', reply: { json: 'Tool' } } as const;
  const schema = { params: ToolAddress, querystring: Viewpoint };
  app.get('/tools/:name', { schema, config: oneTool }, async (request, reply) => {
    const { name } = request.params;
    const pool = await poolFor(request.principal, request.query);
    const tool = toolInFull(pool, name);
    if (tool === undefined) throw new GauntletError('not_found', `There is no tool "${name}"`);
    return reply.send(tool);
  });
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
