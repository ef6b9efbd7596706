/**
 * What a session may do: its permission context, why a call would pass, and open questions.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { permissionSchemas } from '../../src/permissions/schemas.ts';
import { IdSchema } from '../../src/session/feed/block-schema.ts';
import type { Dependencies } from '../dependencies.ts';
import { parseRequest } from '../parse-request.ts';
import { answerSchema, toAnswer } from './answer.ts';
import { sessionFinder } from './index.ts';

const QuestionAddress = z.object({ id: IdSchema, request_id: IdSchema });

/** The door of permissions and prompts. */
export function permissionsDoor(app: FastifyInstance, dependencies: Dependencies): void {
  const { limits } = dependencies;
  const sessionOf = sessionFinder(dependencies);
  const Updates = z.object({ updates: permissionSchemas(limits).updates });
  const Explain = z.object({ name: z.string().min(1).max(256), input: z.json().default({}) });
  const Answer = answerSchema(limits);

  app.get(
    '/sessions/:id/permissions',
    { config: { summary: 'What the session may do', reply: { json: 'PermissionContext' } } },
    async (request) => {
      return (await sessionOf(request)).permissions();
    },
  );

  const update = {
    summary: 'Change what the session may do',
    body: Updates,
    reply: { json: 'PermissionContext' },
  } as const;
  app.post('/sessions/:id/permissions', { config: update }, async (request) => {
    const { updates } = parseRequest(Updates, request.body, 'the body', limits);
    return (await sessionOf(request)).updatePermissions(updates);
  });

  const explain = {
    summary: 'Why a call would be allowed, asked about or denied',
    body: Explain,
    reply: { json: 'Explanation' },
  } as const;
  app.post('/sessions/:id/permissions/explain', { config: explain }, async (request) => {
    const { name, input } = parseRequest(Explain, request.body, 'the body', limits);
    return (await sessionOf(request)).explain(name, input);
  });

  app.get(
    '/sessions/:id/prompts',
    { config: { summary: 'Open questions', reply: { json: 'Prompts' } } },
    async (request) => {
      return { prompts: (await sessionOf(request)).prompts() };
    },
  );

  const answer = { summary: 'Answer a question', body: Answer, reply: { json: 'Answered' } } as const;
  app.post('/sessions/:id/prompts/:request_id', { config: answer }, async (request) => {
    const { id, request_id: requestId } = parseRequest(QuestionAddress, request.params, 'the address', limits);
    const given = parseRequest(Answer, request.body, 'the body', limits);
    const session = await dependencies.directory.openToAnswer(request.principal, id, requestId);
    return session.answer(requestId, toAnswer(given), request.principal);
  });
}
