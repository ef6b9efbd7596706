/**
 * Serves `/openapi.json`, generated on first request from the schemas of requests and replies.
 *
 * A route declares its request in `schema` and its reply in `config`; nothing is generated at start-up.
 */
import type { RouteOptions } from 'fastify';
import * as z from 'zod';
import type { Dependencies } from '../dependencies.ts';
import { type App, describedSchemas } from '../request-schemas.ts';
import type { ReplyName } from './reply-schemas.ts';

/** Description of a route's successful reply. */
interface RouteReply {
  /** Status codes; 200 if absent. */
  readonly statuses?: readonly number[];
  readonly json?: ReplyName;
  /** Content types of replies that are not JSON. */
  readonly text?: readonly string[];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** One line for `/openapi.json`; routes without it are left out. */
    summary?: string;
    reply?: RouteReply;
  }
}

/** Serve the description. Must be registered before the routes it describes. */
export function openApiDoor(app: App, { version }: Pick<Dependencies, 'version' | 'limits'>): void {
  const routes: RouteOptions[] = [];
  let text: Promise<string> | undefined;
  app.addHook('onRoute', (route) => {
    if (route.config?.summary !== undefined && route.method !== 'HEAD') routes.push(route);
  });
  app.get('/openapi.json', { config: { isPublic: true } }, async (_request, reply) => {
    text ??= describeApi(routes, version);
    return reply.header('content-type', 'application/json; charset=utf-8').send(await text);
  });
}

async function describeApi(routes: readonly RouteOptions[], version: string): Promise<string> {
  const { replyReference, replySchemas } = await import('./reply-schemas.ts');
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, '{$1}');
    const methods = (paths[path] ??= {});
    methods[String(route.method).toLowerCase()] = operation(route, replyReference);
  }
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Gauntlet', version, description: 'Executes the tool_use blocks of AI agents.' },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: replySchemas(),
    },
  });
}

type Reference = (name: string) => string;

function operation(route: RouteOptions, reference: Reference): object {
  const { config } = route;
  const schemas = describedSchemas(route);
  const parameters = [...parametersIn('path', schemas.params), ...parametersIn('query', schemas.query)];
  const body = schemas.body && { content: { 'application/json': { schema: jsonSchema(schemas.body) } } };
  const done = { description: 'Done', ...content(config?.reply, reference) };
  return {
    summary: config?.summary,
    ...(config?.isPublic === true && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: {
      ...Object.fromEntries((config?.reply?.statuses ?? [200]).map((status) => [status, done])),
      default: { description: 'What went wrong', ...content({ json: 'Error' }, reference) },
    },
  };
}

function content(reply: Omit<RouteReply, 'json'> & { readonly json?: string } = {}, reference: Reference): object {
  const { json, text = [] } = reply;
  if (json === undefined && text.length === 0) return {};
  return {
    content: {
      ...(json !== undefined && { 'application/json': { schema: { $ref: reference(json) } } }),
      ...Object.fromEntries(text.map((type) => [type, { schema: { type: 'string' } }])),
    },
  };
}

/** Convert each field of a schema to a parameter. */
function parametersIn(place: 'path' | 'query', schema: z.ZodType | undefined): readonly object[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = jsonSchema(schema) as {
    properties?: Record<string, { description?: string }>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    ...(required.includes(name) && { required: true }),
    description,
    schema,
  }));
}

/** Convert a schema of requests, side `input`. What JSON Schema cannot express is left open. */
function jsonSchema(schema: z.ZodType): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
