/**
 * `GET /sessions/{id}/export`: the whole session as a file.
 */
import * as z from 'zod';
import { EXPORT_FORMATS } from '../../src/session/export-session.ts';
import type { DoorContext } from '../dependencies.ts';
import { clientGone, pipeReply } from '../pipe-reply.ts';
import { type App, SessionAddress } from '../request-schemas.ts';
import { sessionFinder } from './index.ts';

const Query = z.strictObject({ format: z.enum(EXPORT_FORMATS).default('json') });

const FILES = {
  json: { contentType: 'application/json; charset=utf-8', extension: 'json' },
  markdown: { contentType: 'text/markdown; charset=utf-8', extension: 'md' },
} as const;

/** Register the route. */
export function exportDoor(app: App, context: DoorContext): void {
  const sessionOf = sessionFinder(context);
  const config = {
    summary: 'The whole session as a file',
    reply: { json: 'SessionExport', text: ['text/markdown'] },
  } as const;
  const schema = { params: SessionAddress, querystring: Query };
  app.get('/sessions/:id/export', { exposeHeadRoute: false, schema, config }, async (request, reply) => {
    const { format } = request.query;
    const session = await sessionOf(request);
    const { contentType, extension } = FILES[format];
    // Ids are letters, digits, "_" and "-".
    reply.header('content-disposition', `attachment; filename="${session.id}.${extension}"`);
    const gone = clientGone(reply);
    return pipeReply(reply, { contentType, chunks: session.history.export(format) }, gone, context.limits);
  });
}
