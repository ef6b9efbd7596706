/**
 * Routes of sessions: create, list, describe, cancel and end. A principal reaches only its own.
 */
import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { JsonObject } from '../../src/base/json.ts';
import { GauntletError } from '../../src/base/errors.ts';
import {
  DirectoriesSchema,
  MAX_PATH_CHARS,
  PermissionModeSchema,
  RuleSetSchema,
} from '../../src/wire/permission-schemas.ts';
import { CallIdSchema, IdSchema, IdScopeSchema, ToolSearchFormSchema } from '../../src/wire/block-schema.ts';
import type { Session } from '../../src/session/session.ts';
import type { Dependencies } from '../dependencies.ts';
import { queryNumber } from '../query-number.ts';
import { warningsAbout } from './rule-warnings.ts';
import { type App, SessionAddress, toolModeSchema } from '../request-schemas.ts';

/** A session's title. */
const MAX_TITLE_CHARS = 500;

/** Sessions in one page. */
const MAX_PAGE = 200;

/** A cursor of the pages of sessions, which is as long as an id. */
const MAX_CURSOR_CHARS = 128;

/** A text that sessions are searched for. */
const MAX_QUERY_CHARS = 200;

/** Words of the query as the directory takes them. */
const ARCHIVED = { false: undefined, true: 'only', all: 'all' } as const;

/** Tools that a session may name: a model is given fewer. */
const MAX_NAMED_TOOLS = 1_000;

const Cancel = z.strictObject({ tool_use_id: CallIdSchema.optional(), turn_id: IdSchema.optional() }).prefault({});

const Label = z.strictObject({
  title: z.string().max(MAX_TITLE_CHARS).optional().describe('An empty one takes the title away'),
  archived: z.boolean().optional().describe('Archived sessions are left out of the list'),
});

/** A request to an address below a session. */
export type SessionRequest = Pick<FastifyRequest, 'principal'> & { readonly params: z.output<typeof SessionAddress> };

/** Returns the session of a request. @throws {GauntletError} `not_found` */
export type SessionOf = (request: SessionRequest) => Promise<Session>;

/** Create the function that finds the session of a request's address. */
export function sessionFinder({ directory }: Pick<Dependencies, 'directory'>): SessionOf {
  return ({ principal, params }) => directory.open(principal, params.id);
}

/** Register the routes of sessions. */
export function sessionsDoor(app: App, dependencies: Dependencies): void {
  const { directory, readiness } = dependencies;
  const sessionOf = sessionFinder(dependencies);
  const { New, List } = schemas(dependencies);

  const begin = { summary: 'Begin a session', reply: { statuses: [201], json: 'NewSession' } } as const;
  app.post('/sessions', { schema: { body: New }, config: begin }, async (request, reply) => {
    if (readiness() === 'draining')
      throw new GauntletError('shutting_down', 'The server is shutting down; try again soon');
    const asked = request.body;
    const session = await directory.create(request.principal, {
      cwd: asked.cwd,
      toolMode: asked.tool_mode,
      mode: asked.mode,
      rules: asked.rules,
      additionalDirectories: asked.additional_directories,
      onAsk: asked.on_ask,
      idScope: asked.id_scope,
      toolSearch: asked.tool_search,
      title: asked.title,
      tools: asked.tools,
      // Parsed from a JSON body.
      outputSchema: asked.output_schema as JsonObject | undefined,
    });
    const rules = Object.values(asked.rules ?? {}).flat();
    return reply.code(201).send({ ...session.describe(), ...warningsAbout(rules, session) });
  });

  const list = { summary: 'List your sessions, the newest first', reply: { json: 'Sessions' } } as const;
  app.get('/sessions', { schema: { querystring: List }, config: list }, async (request) => {
    const { limit, cursor, archived, q } = request.query;
    const page = await directory.list(request.principal, { limit, cursor, archived: ARCHIVED[archived], text: q });
    return { sessions: page.sessions, next_cursor: page.cursor };
  });

  const schema = { params: SessionAddress };
  app.get(
    '/sessions/:id',
    { schema, config: { summary: 'One session', reply: { json: 'Session' } } },
    async (request) => {
      return (await sessionOf(request)).describe();
    },
  );

  const label = { summary: 'Change the title, archive or bring back', reply: { json: 'Session' } } as const;
  app.patch('/sessions/:id', { schema: { params: SessionAddress, body: Label }, config: label }, (request) => {
    const { title, archived } = request.body;
    return directory.relabel(request.principal, request.params.id, { title, isArchived: archived });
  });

  app.delete(
    '/sessions/:id',
    { schema, config: { summary: 'End what runs and forget the session', reply: { statuses: [204] } } },
    async (request, reply) => {
      await directory.remove(request.principal, request.params.id);
      return reply.code(204).send();
    },
  );

  const cancel = { summary: 'Cancel one call, one turn, or all that runs', reply: { json: 'Cancelled' } } as const;
  const cancelSchema = { params: SessionAddress, body: Cancel };
  app.post('/sessions/:id/cancel', { schema: cancelSchema, config: cancel }, async (request) => {
    const asked = request.body;
    const session = await sessionOf(request);
    return { cancelled: session.cancel({ toolUseId: asked.tool_use_id, turnId: asked.turn_id }) };
  });
}

function schemas(dependencies: Pick<Dependencies, 'hasRepl'>) {
  const New = z.strictObject({
    cwd: z.string().min(1).max(MAX_PATH_CHARS).optional().describe('A folder inside the workspace'),
    tool_mode: toolModeSchema(dependencies).optional(),
    mode: PermissionModeSchema.optional(),
    rules: RuleSetSchema.optional(),
    additional_directories: DirectoriesSchema.optional(),
    on_ask: z.enum(['deny', 'wait']).optional(),
    id_scope: IdScopeSchema.optional(),
    tool_search: ToolSearchFormSchema.optional(),
    title: z.string().max(MAX_TITLE_CHARS).optional(),
    tools: z
      .array(z.string().min(1).max(256))
      .min(1)
      .max(MAX_NAMED_TOOLS)
      .optional()
      .describe('The only tools that it sees'),
    output_schema: z.looseObject({}).optional().describe('JSON Schema of what StructuredOutput takes'),
  });
  const List = z.strictObject({
    limit: queryNumber(1, MAX_PAGE).default(MAX_PAGE),
    cursor: z.string().max(MAX_CURSOR_CHARS).optional().describe('`next_cursor` of the page before'),
    archived: z.enum(['false', 'true', 'all']).default('false').describe('`true`: archived sessions alone'),
    q: z.string().max(MAX_QUERY_CHARS).optional().describe('Text that title, folder or id holds, ignoring case'),
  });
  return { New: New.prefault({}), List };
}
