/**
 * `/sessions`: made, listed, looked at, cancelled, ended. One's own only.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Limits } from '../../config/limits.ts';
import { GauntletError } from '../../src/contract/errors.ts';
import { PermissionModeSchema, permissionSchemas } from '../../src/permissions/schemas.ts';
import { IdSchema } from '../../src/session/feed/block-schema.ts';
import type { Session } from '../../src/session/session.ts';
import type { Dependencies } from '../dependencies.ts';
import { parseRequest } from '../parse-request.ts';
import { queryNumber } from '../query-number.ts';

/** The address of everything below a session. */
const SessionAddress = z.object({ id: IdSchema });

const Cancel = z.object({ tool_use_id: IdSchema.optional(), turn_id: IdSchema.optional() });

/** Gives the session a request is about. @throws {GauntletError} `invalid_request`, `not_found` */
export type SessionOf = (request: FastifyRequest) => Promise<Session>;

/** Make the way from a request's address to its session. */
export function sessionFinder({ directory, limits }: Dependencies): SessionOf {
  return (request) => {
    const { id } = parseRequest(SessionAddress, request.params, 'the address', limits);
    return directory.open(request.principal, id);
  };
}

/** The door of sessions themselves. */
export function sessionsDoor(app: FastifyInstance, dependencies: Dependencies): void {
  const { directory, limits, readiness } = dependencies;
  const sessionOf = sessionFinder(dependencies);
  const { New, List } = schemas(limits);

  const begin = { summary: 'Begin a session', body: New, reply: { statuses: [201], json: 'Session' } } as const;
  app.post('/sessions', { config: begin }, async (request, reply) => {
    if (readiness() === 'draining')
      throw new GauntletError('shutting_down', 'The server is shutting down; try again soon');
    const asked = parseRequest(New, request.body ?? {}, 'the body', limits);
    const session = await directory.create(request.principal, {
      cwd: asked.cwd,
      toolMode: asked.tool_mode,
      mode: asked.mode,
      rules: asked.rules,
      additionalDirectories: asked.additional_directories,
      onAsk: asked.on_ask,
      title: asked.title,
    });
    return reply.code(201).send(session.describe());
  });

  const list = { summary: 'List your sessions, the newest first', query: List, reply: { json: 'Sessions' } } as const;
  app.get('/sessions', { config: list }, async (request) => {
    const { limit, cursor } = parseRequest(List, request.query, 'the query', limits);
    const page = await directory.list(request.principal, { limit, cursor });
    return { sessions: page.sessions, next_cursor: page.cursor };
  });

  app.get('/sessions/:id', { config: { summary: 'One session', reply: { json: 'Session' } } }, async (request) => {
    return (await sessionOf(request)).describe();
  });

  app.delete(
    '/sessions/:id',
    { config: { summary: 'End what runs and forget the session', reply: { statuses: [204] } } },
    async (request, reply) => {
      const { id } = parseRequest(SessionAddress, request.params, 'the address', limits);
      await directory.remove(request.principal, id);
      return reply.code(204).send();
    },
  );

  const cancel = {
    summary: 'Cancel one call, one turn, or all that runs',
    body: Cancel,
    reply: { json: 'Cancelled' },
  } as const;
  app.post('/sessions/:id/cancel', { config: cancel }, async (request) => {
    const asked = parseRequest(Cancel, request.body ?? {}, 'the body', limits);
    const session = await sessionOf(request);
    return { cancelled: session.cancel({ toolUseId: asked.tool_use_id, turnId: asked.turn_id }) };
  });
}

function schemas(limits: Limits) {
  const { ruleSet, directories } = permissionSchemas(limits);
  const New = z.object({
    cwd: z.string().min(1).max(limits.pathChars).optional().describe('A folder inside the workspace'),
    tool_mode: z.enum(['normal', 'simple', 'repl']).optional(),
    mode: PermissionModeSchema.optional(),
    rules: ruleSet.optional(),
    additional_directories: directories.optional(),
    on_ask: z.enum(['deny', 'wait']).optional(),
    title: z.string().max(limits.titleChars).optional(),
  });
  const List = z.object({
    limit: queryNumber(1, limits.listedSessions).default(limits.listedSessions),
    cursor: z.string().max(limits.idChars).optional().describe('`next_cursor` of the page before'),
  });
  return { New, List };
}
