/**
 * Declares requests: a route states address, query and body once, as Zod schemas in `schema`, which validate its
 * requests, type its handler, and describe it in `/openapi.json`.
 */
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteOptions,
} from 'fastify';
import * as z from 'zod';
import { TOOL_MODES } from '../src/wire/permission-names.ts';
import { IdSchema } from '../src/wire/block-schema.ts';
import type { Dependencies } from './dependencies.ts';
import { parseRequest } from './parse-request.ts';
import { queryNumber } from './query-number.ts';

/** Derives the types of a request's parts from their Zod schemas. */
export interface ZodTypes extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
}

/** The app as routes use it: requests have the types of their schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypes
>;

/** Address of everything below a session. */
export const SessionAddress = z.strictObject({ id: IdSchema });

/** Text of one page of a result or of a task's output. */
const MAX_PAGE_CHARS = 200_000;

/** The query of a long text by range. */
export const TextRange = z.strictObject({
  offset_chars: queryNumber(0).default(0),
  limit_chars: queryNumber(1, MAX_PAGE_CHARS).default(MAX_PAGE_CHARS),
});

/** Create the schema of a tool mode; `repl` requires a REPL. */
export function toolModeSchema({ hasRepl }: Pick<Dependencies, 'hasRepl'>) {
  return z
    .enum(TOOL_MODES)
    .refine((mode) => hasRepl || mode !== 'repl', 'the REPL is switched off on this server; use "normal" or "simple"');
}

/** Query without fields, and empty or absent body. */
const NO_QUERY = z.strictObject({});
const NO_BODY = z.strictObject({}).optional();

const METHODS_WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Names of a request's parts in messages. */
const PART_NAMES: Readonly<Record<string, string>> = {
  params: 'the address',
  querystring: 'the query',
  body: 'the body',
};

/** Validate requests before handlers run. A described route without a query or body schema accepts none. */
export function checkRequests(app: App): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart = 'body' }) => {
    const what = PART_NAMES[httpPart] ?? httpPart;
    return (value: unknown) => {
      try {
        // Fastify passes null if there is no body.
        return { value: parseRequest(schema, value ?? undefined, what) };
      } catch (error) {
        return { error: error as Error };
      }
    };
  });
  app.addHook('onRoute', (route) => {
    if (route.config?.summary === undefined) return;
    route.schema = { querystring: NO_QUERY, ...(takesBody(route) && { body: NO_BODY }), ...route.schema };
  });
}

/** Return the schemas of a route's address, query and body; each is absent if the route accepts none. */
export function describedSchemas({ schema }: RouteOptions): {
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
} {
  const { params, querystring: query, body } = schema ?? {};
  return {
    ...(params instanceof z.ZodType && { params }),
    ...(query instanceof z.ZodType && query !== NO_QUERY && { query }),
    ...(body instanceof z.ZodType && body !== NO_BODY && { body }),
  };
}

function takesBody({ method }: RouteOptions): boolean {
  return ![method].flat().every((each) => METHODS_WITHOUT_BODY.has(each));
}
