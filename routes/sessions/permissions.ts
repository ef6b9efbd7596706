/**
 * Routes of a session's permissions: its permission context, explanations of decisions, and open questions.
 */
import * as z from 'zod';
import type { JsonValue } from '../../src/base/json.ts';
import { RULE_BEHAVIORS } from '../../src/wire/permission-names.ts';
import { PermissionModeSchema, RuleSetSchema, UpdatesSchema } from '../../src/wire/permission-schemas.ts';
import { CallIdSchema, IdSchema } from '../../src/wire/block-schema.ts';
import { AnswerSchema } from '../../src/wire/client-frames.ts';
import type { Dependencies } from '../dependencies.ts';
import { clientGone } from '../pipe-reply.ts';
import { type App, SessionAddress } from '../request-schemas.ts';
import { toAnswer } from './answer.ts';
import { sessionFinder } from './index.ts';
import { rulesOf, warningsAbout } from './rule-warnings.ts';

const NO_RULES = { allow: [], ask: [], deny: [] };

const QuestionAddress = SessionAddress.extend({ request_id: IdSchema });

/** Fields of a `tool_use` block, so that one can be sent unchanged; only name and input are used. */
const Explain = z.strictObject({
  type: z.literal('tool_use').optional(),
  id: CallIdSchema.optional(),
  name: z.string().min(1).max(256),
  input: z.custom<JsonValue>().default({}),
  cache_control: z.unknown().optional(),
  caller: z.unknown().optional(),
});

/** Calls of one test. */
const MAX_TESTED_CALLS = 500;

/** Rules to add, a mode to set, or any updates. */
const Test = z
  .strictObject({
    rules: RuleSetSchema.optional().describe('Rules to add'),
    mode: PermissionModeSchema.optional(),
    updates: UpdatesSchema.optional().describe('As of `permissions`, applied after the others'),
    limit: z.int().min(1).max(MAX_TESTED_CALLS).default(MAX_TESTED_CALLS).describe('Most calls, the latest'),
  })
  .transform(({ rules = NO_RULES, mode, updates = [], limit }) => {
    const added = RULE_BEHAVIORS.map((behavior) => ({ type: 'addRules', behavior, rules: rules[behavior] }) as const);
    const set = mode === undefined ? [] : [{ type: 'setMode', mode } as const];
    return { updates: [...added.filter((update) => update.rules.length > 0), ...set, ...updates], limit };
  });

/** Register the routes of permissions and prompts. */
export function permissionsDoor(app: App, dependencies: Dependencies): void {
  const sessionOf = sessionFinder(dependencies);
  const Updates = z.strictObject({ updates: UpdatesSchema.min(1) });

  app.get(
    '/sessions/:id/permissions',
    {
      schema: { params: SessionAddress },
      config: { summary: 'What the session may do', reply: { json: 'PermissionContext' } },
    },
    async (request) => (await sessionOf(request)).permissions(),
  );

  const update = { summary: 'Change what the session may do', reply: { json: 'ChangedPermissions' } } as const;
  const updateSchema = { params: SessionAddress, body: Updates };
  app.post('/sessions/:id/permissions', { schema: updateSchema, config: update }, async (request) => {
    const { updates } = request.body;
    const session = await sessionOf(request);
    const permissions = await session.updatePermissions(updates);
    return { ...permissions, ...warningsAbout(rulesOf(updates), session) };
  });

  const explain = {
    summary: 'Why a call would be allowed, asked about or denied',
    reply: { json: 'Explanation' },
  } as const;
  const explainSchema = { params: SessionAddress, body: Explain };
  app.post('/sessions/:id/permissions/explain', { schema: explainSchema, config: explain }, async (request) => {
    const { name, input } = request.body;
    return (await sessionOf(request)).explain(name, input);
  });

  const test = { summary: 'How the latest calls would be decided', reply: { json: 'TestedPermissions' } } as const;
  const testSchema = { params: SessionAddress, body: Test };
  app.post('/sessions/:id/permissions/test', { schema: testSchema, config: test }, async (request, reply) => {
    const { updates, limit } = request.body;
    const session = await sessionOf(request);
    return session.history.testPermissions(updates, { limit, signal: clientGone(reply) });
  });

  app.get(
    '/sessions/:id/prompts',
    { schema: { params: SessionAddress }, config: { summary: 'Open questions', reply: { json: 'Prompts' } } },
    async (request) => ({ prompts: (await sessionOf(request)).prompts() }),
  );

  const all = {
    summary: 'Open questions of all sessions that the caller may answer',
    reply: { json: 'AllPrompts' },
  } as const;
  app.get('/prompts', { config: all }, async ({ principal }) => ({
    prompts: await dependencies.directory.openQuestions(principal),
  }));

  const answer = { summary: 'Answer a question', reply: { json: 'Answered' } } as const;
  const answerSchemas = { params: QuestionAddress, body: AnswerSchema };
  app.post('/sessions/:id/prompts/:request_id', { schema: answerSchemas, config: answer }, async (request) => {
    const { id, request_id: requestId } = request.params;
    const session = await dependencies.directory.openToAnswer(request.principal, id, requestId);
    const answered = await session.answer(requestId, toAnswer(request.body), request.principal);
    return { ...answered, ...warningsAbout(rulesOf(request.body.updated_permissions), session) };
  });
}
