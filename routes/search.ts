/**
 * `GET /search`: finds calls in all sessions of the caller.
 */
import * as z from 'zod';
import { GauntletError } from '../src/base/errors.ts';
import { IdSchema } from '../src/wire/block-schema.ts';
import type { Dependencies } from './dependencies.ts';
import { clientGone } from './pipe-reply.ts';
import { queryNumber } from './query-number.ts';
import type { App } from './request-schemas.ts';

/** Words to search for. */
const MAX_QUERY_CHARS = 200;

/** A name or a part of a path. */
const MAX_FILTER_CHARS = 1_024;

const MAX_HITS = 100;

const filter = z.string().min(1).max(MAX_FILTER_CHARS).optional();

/** Register the route. */
export function searchDoor(app: App, { searchCalls }: Dependencies): void {
  const Search = z.strictObject({
    q: z.string().max(MAX_QUERY_CHARS).optional().describe('Words that must all occur; in double quotes they are one'),
    tool: filter.describe('Name of the tool'),
    status: z.enum(['ok', 'denied', 'error', 'cancelled', 'interrupted', 'running']).optional(),
    file: filter.describe('Part of a path in the input'),
    session_id: IdSchema.optional(),
    principal: filter.describe('Refused unless it is the caller'),
    limit: queryNumber(1, MAX_HITS).default(MAX_HITS),
    cursor: z.string().max(32).optional().describe('`next_cursor` of the page before'),
  });

  const config = { summary: 'Find calls in all your sessions', reply: { json: 'CallHits' } } as const;
  app.get('/search', { schema: { querystring: Search }, config }, (request, reply) => {
    const { q: text, session_id: sessionId, principal = request.principal, ...rest } = request.query;
    if (principal !== request.principal)
      throw new GauntletError('forbidden', `Only calls of "${request.principal}" can be searched with this token`, {
        details: { reason: 'principal', path: 'principal' },
      });
    return searchCalls(principal, { text, sessionId, ...rest }, clientGone(reply));
  });
}
