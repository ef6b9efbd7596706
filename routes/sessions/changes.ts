/**
 * Routes that list and undo a session's changes.
 */
import * as z from 'zod';
import { CallIdSchema } from '../../src/wire/block-schema.ts';
import type { Dependencies } from '../dependencies.ts';
import { queryNumber } from '../query-number.ts';
import { type App, SessionAddress } from '../request-schemas.ts';
import { sessionFinder } from './index.ts';

/** Changes in one page: each may bring its diff. */
const MAX_PAGE = 100;

/** One of the two fields is wanted: what the description of a transformed object cannot say by itself. */
const EITHER = ['tool_use_id', 'to_seq'].map((name) => ({
  type: 'object',
  properties: { [name]: { type: name === 'to_seq' ? 'integer' : 'string' } },
  required: [name],
}));

/** Selects the changes to undo, by call or by frame. */
const Undo = z
  .strictObject({
    tool_use_id: CallIdSchema.optional().describe('The call whose changes are taken back'),
    to_seq: z.int().min(0).optional().describe('Everything changed after this frame is taken back'),
    dry_run: z.boolean().default(false).describe('Tells what would be done, and does nothing'),
  })
  .meta({ oneOf: EITHER })
  .transform(({ tool_use_id: toolUseId, to_seq: toSeq, dry_run: isDry }, context) => {
    if (toolUseId !== undefined && toSeq === undefined) return { target: { toolUseId }, isDry };
    if (toSeq !== undefined && toolUseId === undefined) return { target: { toSeq }, isDry };
    context.addIssue('send exactly one of "tool_use_id" and "to_seq"');
    return z.NEVER;
  });

/** Register the routes of changes. */
export function changesDoor(app: App, dependencies: Dependencies): void {
  const sessionOf = sessionFinder(dependencies);
  const Query = z.strictObject({
    from_seq: queryNumber(0).default(0).describe('Changes after this frame'),
    limit: queryNumber(1, MAX_PAGE).default(MAX_PAGE).describe('Most changes in the page'),
    tool_use_id: CallIdSchema.optional().describe('Changes of this call'),
  });

  const list = { summary: 'What the tools changed, with diffs', reply: { json: 'Changes' } } as const;
  const listSchema = { params: SessionAddress, querystring: Query };
  app.get('/sessions/:id/changes', { schema: listSchema, config: list }, async (request) => {
    const asked = request.query;
    const session = await sessionOf(request);
    return session.changes.list({ after: asked.from_seq, limit: asked.limit, toolUseId: asked.tool_use_id });
  });

  const undo = { summary: 'Put files back as they were', reply: { json: 'Undone' } } as const;
  app.post('/sessions/:id/undo', { schema: { params: SessionAddress, body: Undo }, config: undo }, async (request) => {
    const session = await sessionOf(request);
    const { target, isDry } = request.body;
    return isDry ? session.changes.preview(target) : session.changes.undo(target, request.principal);
  });
}
