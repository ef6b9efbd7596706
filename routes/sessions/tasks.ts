/**
 * Routes of a session's background tasks: list, read output, stop.
 */
import { IdSchema } from '../../src/wire/block-schema.ts';
import type { Dependencies } from '../dependencies.ts';
import { type App, SessionAddress, TextRange } from '../request-schemas.ts';
import { sessionFinder } from './index.ts';

const TaskAddress = SessionAddress.extend({ task_id: IdSchema });

/** Register the routes of background tasks. */
export function tasksDoor(app: App, dependencies: Dependencies): void {
  const sessionOf = sessionFinder(dependencies);

  app.get(
    '/sessions/:id/tasks',
    {
      schema: { params: SessionAddress },
      config: { summary: 'Background tasks, the earliest start first', reply: { json: 'Tasks' } },
    },
    async (request) => ({ tasks: (await sessionOf(request)).tasks.list() }),
  );

  const output = { summary: "The whole text of a task's output, by range", reply: { json: 'ResultText' } } as const;
  const outputSchema = { params: TaskAddress, querystring: TextRange };
  app.get('/sessions/:id/tasks/:task_id/output', { schema: outputSchema, config: output }, async (request) => {
    const { params, query } = request;
    const { tasks } = await sessionOf(request);
    return tasks.output(params.task_id, { offsetChars: query.offset_chars, limitChars: query.limit_chars });
  });

  const stop = { summary: 'End a task and everything it started', reply: { json: 'Task' } } as const;
  app.post('/sessions/:id/tasks/:task_id/stop', { schema: { params: TaskAddress }, config: stop }, async (request) =>
    (await sessionOf(request)).tasks.stop(request.params.task_id),
  );
}
