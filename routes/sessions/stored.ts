/**
 * What a session keeps: the whole text of results by range, and a search over what was shown.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { IdSchema } from '../../src/session/feed/block-schema.ts';
import type { Dependencies } from '../dependencies.ts';
import { parseRequest } from '../parse-request.ts';
import { queryNumber } from '../query-number.ts';
import { sessionFinder } from './index.ts';

const ResultAddress = z.object({ id: IdSchema, tool_use_id: IdSchema });

/** The door of stored results. */
export function storedDoor(app: FastifyInstance, dependencies: Dependencies): void {
  const { limits } = dependencies;
  const sessionOf = sessionFinder(dependencies);
  const Range = z.object({
    offset_chars: queryNumber(0).default(0),
    limit_chars: queryNumber(1, limits.resultPageChars).default(limits.resultPageChars),
  });
  const Search = z.object({ q: z.string().min(1).max(limits.queryChars) });

  const range = {
    summary: 'The whole text of a result, by range',
    query: Range,
    reply: { json: 'ResultText' },
  } as const;
  app.get('/sessions/:id/results/:tool_use_id', { config: range }, async (request) => {
    const { tool_use_id: toolUseId } = parseRequest(ResultAddress, request.params, 'the address', limits);
    const asked = parseRequest(Range, request.query, 'the query', limits);
    const session = await sessionOf(request);
    return session.resultText(toolUseId, { offsetChars: asked.offset_chars, limitChars: asked.limit_chars });
  });

  app.get(
    '/sessions/:id/search',
    { config: { summary: 'Find calls by their text', query: Search, reply: { json: 'SearchHits' } } },
    async (request) => {
      const { q } = parseRequest(Search, request.query, 'the query', limits);
      return { hits: await (await sessionOf(request)).search(q) };
    },
  );
}
