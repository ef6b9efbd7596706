/**
 * `GET /tools`: the list a model is given, as bytes that were made once.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { GauntletError } from '../src/contract/errors.ts';
import { LIST_FORMATS, toolInFull, toolList, type ListVariant, type ToolList } from '../src/pool/tool-list.ts';
import type { ToolPool } from '../src/pool/tool-pool.ts';
import { IdSchema } from '../src/session/feed/block-schema.ts';
import type { Dependencies } from './dependencies.ts';
import { parseRequest } from './parse-request.ts';

/** What is sent when nothing is asked for. */
const PLAIN: ListVariant = { format: 'anthropic', schemas: 'by deferral' };

/** The tool list, and one tool of it. */
export function toolsDoor(app: FastifyInstance, dependencies: Dependencies): void {
  const { limits, defaultToolMode } = dependencies;
  const whose = {
    session_id: IdSchema.optional().describe('The list that this session may see'),
    mode: z.enum(['normal', 'simple', 'repl']).optional().describe('The list of a tool mode; not with a session'),
  };
  const Query = z.object({
    ...whose,
    format: z.enum(LIST_FORMATS).default('anthropic').describe('Shape of the entries'),
    schemas: z.enum(['full', 'none']).optional().describe('All schemas, or names only; absent: by deferral'),
  });
  const OneQuery = z.object(whose);
  const OneAddress = z.object({ name: IdSchema });

  async function poolFor(principal: string, query: z.output<typeof OneQuery>): Promise<ToolPool> {
    if (query.session_id === undefined) {
      return dependencies.newSessionPool(principal, query.mode ?? defaultToolMode);
    }
    if (query.mode !== undefined) {
      throw new GauntletError('invalid_request', 'Cannot list tools: name a session or a mode, not both');
    }
    return (await dependencies.directory.open(principal, query.session_id)).pool();
  }

  async function sendWanted(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = parseRequest(Query, request.query, 'the query', limits);
    const pool = await poolFor(request.principal, query);
    return sendList(toolList(pool, { format: query.format, schemas: query.schemas ?? 'by deferral' }), request, reply);
  }

  const listed = { summary: 'List the tools', query: Query, reply: { json: 'Tools', text: ['text/plain'] } } as const;
  app.get('/tools', { config: listed }, (request, reply) => {
    if (!isEmpty(request.query)) return sendWanted(request, reply);
    // The list that agents ask for again and again: nothing to parse, nothing to wait for.
    return sendList(toolList(dependencies.newSessionPool(request.principal, defaultToolMode), PLAIN), request, reply);
  });

  const oneTool = { config: { summary: 'One tool in full', query: OneQuery, reply: { json: 'Tool' } as const } };
  app.get('/tools/:name', oneTool, async (request, reply) => {
    const { name } = parseRequest(OneAddress, request.params, 'the address', limits);
    const pool = await poolFor(request.principal, parseRequest(OneQuery, request.query, 'the query', limits));
    const tool = toolInFull(pool, name);
    if (tool === undefined) throw new GauntletError('not_found', `There is no tool "${name}"`);
    return reply.send(tool);
  });
}

function sendList(list: ToolList, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('etag', list.etag).header('cache-control', 'private, no-cache');
  if (isKnown(request.headers['if-none-match'], list.etag)) return reply.code(304).send();
  return reply.header('content-type', list.contentType).send(list.body);
}

function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((value) => value.trim() === '*' || value.trim().replace(/^W\//, '') === etag);
}

function isEmpty(query: unknown): boolean {
  for (const _key in query as object) return false;
  return true;
}
