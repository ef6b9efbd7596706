/**
 * What a session changed, and the way back.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { IdSchema } from '../../src/session/feed/block-schema.ts';
import type { Dependencies } from '../dependencies.ts';
import { parseRequest } from '../parse-request.ts';
import { queryNumber } from '../query-number.ts';
import { sessionFinder } from './index.ts';

/** One of two ways to say what to take back. */
const Undo = z.xor([
  z.strictObject({ tool_use_id: IdSchema.describe('The call whose changes are taken back') }),
  z.strictObject({ to_seq: z.int().min(0).describe('Everything changed after this frame is taken back') }),
]);

/** The door of changes. */
export function changesDoor(app: FastifyInstance, dependencies: Dependencies): void {
  const { limits } = dependencies;
  const sessionOf = sessionFinder(dependencies);
  const Query = z.object({
    from_seq: queryNumber(0).default(0).describe('Changes after this frame'),
    limit: queryNumber(1, limits.changesPage).default(limits.changesPage).describe('Most changes in the page'),
    tool_use_id: IdSchema.optional().describe('Changes of this call'),
  });

  const list = { summary: 'What the tools changed, with diffs', query: Query, reply: { json: 'Changes' } } as const;
  app.get('/sessions/:id/changes', { config: list }, async (request) => {
    const asked = parseRequest(Query, request.query, 'the query', limits);
    const session = await sessionOf(request);
    return session.changes.list({ after: asked.from_seq, limit: asked.limit, toolUseId: asked.tool_use_id });
  });

  const undo = { summary: 'Put files back as they were', body: Undo, reply: { json: 'Undone' } } as const;
  app.post('/sessions/:id/undo', { config: undo }, async (request) => {
    const asked = parseRequest(Undo, request.body, 'the body', limits);
    const session = await sessionOf(request);
    const target = 'tool_use_id' in asked ? { toolUseId: asked.tool_use_id } : { toSeq: asked.to_seq };
    return session.changes.undo(target, request.principal);
  });
}
