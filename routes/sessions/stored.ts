/**
 * Routes of stored data: the whole text of results by range, and a search in displayed text.
 */
import * as z from 'zod';
import { CallIdSchema } from '../../src/wire/block-schema.ts';
import type { Dependencies } from '../dependencies.ts';
import { type App, SessionAddress, TextRange } from '../request-schemas.ts';
import { sessionFinder } from './index.ts';

/** Text to search a transcript for. */
const MAX_QUERY_CHARS = 10_000;

const ResultAddress = SessionAddress.extend({ tool_use_id: CallIdSchema });

/** Register the routes of stored results. */
export function storedDoor(app: App, dependencies: Dependencies): void {
  const sessionOf = sessionFinder(dependencies);
  const Search = z.strictObject({ q: z.string().min(1).max(MAX_QUERY_CHARS) });

  const range = { summary: 'The whole text of a result, by range', reply: { json: 'ResultText' } } as const;
  const rangeSchema = { params: ResultAddress, querystring: TextRange };
  app.get('/sessions/:id/results/:tool_use_id', { schema: rangeSchema, config: range }, async (request) => {
    const { params, query: asked } = request;
    const session = await sessionOf(request);
    return session.history.resultText(params.tool_use_id, {
      offsetChars: asked.offset_chars,
      limitChars: asked.limit_chars,
    });
  });

  app.get(
    '/sessions/:id/search',
    {
      schema: { params: SessionAddress, querystring: Search },
      config: { summary: 'Find calls by their text', reply: { json: 'SearchHits' } },
    },
    async (request) => ({ hits: await (await sessionOf(request)).history.search(request.query.q) }),
  );
}
