/**
 * `POST /triggers/{id}`: runs a saved batch in a session of its own, and replies as `POST /execute` does.
 */
import * as z from 'zod';
import { GauntletError } from '../src/base/errors.ts';
import { IdSchema } from '../src/wire/block-schema.ts';
import type { Dependencies } from './dependencies.ts';
import { executionReply } from './execute/index.ts';
import { clientGone, sendWhenReady } from './pipe-reply.ts';
import type { App } from './request-schemas.ts';

/** Register the route of saved batches. */
export function triggersDoor(app: App, dependencies: Dependencies): void {
  const { startTrigger, readiness } = dependencies;
  const schema = { params: z.strictObject({ id: IdSchema }) };
  const config = { summary: 'Run a saved batch of tool calls', reply: { json: 'Execution' } } as const;

  app.post('/triggers/:id', { schema, config }, async (request, reply) => {
    if (readiness() === 'draining')
      throw new GauntletError('shutting_down', 'The server is shutting down; try again soon');
    const gone = clientGone(reply);
    const { session, turn } = await startTrigger(request.principal, request.params.id);
    const body = session.collect(turn, gone).then((result) => executionReply(session.id, result));
    return sendWhenReady(reply, body, gone, dependencies);
  });
}
