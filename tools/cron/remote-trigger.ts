/** RemoteTrigger: saves batches of calls that a request starts. */
import * as z from 'zod';
import { GauntletError } from '../../src/base/errors.ts';
import { showText, showValue } from '../../src/base/hidden-characters.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { permissionBound } from '../../src/permissions/child-permissions.ts';
import { MAX_TRIGGERS, type Trigger } from '../../src/tasks/triggers.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import type { ToolUseContext, ValidationResult } from '../../src/tool/tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { resultText } from '../../src/wire/result-text.ts';
import type { CronToolServices } from './services.ts';

const PROMPT = `Saves a batch of tool calls that an authenticated \`POST /triggers/{trigger_id}\` starts later, for example from a build server.

- \`action\` is "list", "get", "create", "update" or "run"; all but "list" and "create" need \`trigger_id\`
- \`body\` of "create" and "update" is {title, tool_uses: [{name, input}]}: whole calls, which run in the order and side by side as in one message. An "update" replaces it, and one with no tool_uses removes the trigger
- A run by a request has a session of its own, with no more permissions than this one has now or will have then. Nobody may be there to answer questions
- "run" runs the calls now, in this session, each with its own rules and questions
- At most ${MAX_TRIGGERS}. For a time instead of a request use CronCreate`;

const MAX_BLOCKS = 32;

const Body = z.strictObject({
  title: z.string().min(1).max(200).describe('What it does, for people'),
  tool_uses: z
    .array(z.strictObject({ name: z.string().min(1).max(256), input: z.record(z.string(), z.unknown()) }))
    .max(MAX_BLOCKS)
    .describe('The calls: name and input of each'),
});

const RemoteTriggerInput = z.strictObject({
  action: z.enum(['list', 'get', 'create', 'update', 'run']).describe('What to do'),
  trigger_id: z.string().min(1).max(64).optional().describe('The trigger, as "list" and "create" name it'),
  body: Body.optional().describe('What the trigger does, for "create" and "update"'),
});

/** A parsed input. */
export type RemoteTriggerArguments = z.output<typeof RemoteTriggerInput>;

/** Make RemoteTrigger. */
export function remoteTriggerTool(services: Pick<CronToolServices, 'triggers'>) {
  return buildTool({
    name: 'RemoteTrigger',
    searchHint: 'save a batch of calls for a request',
    shouldDefer: true,
    isReadOnly: ({ action }) => action === 'list' || action === 'get',
    isConcurrencySafe: ({ action }) => action === 'list' || action === 'get',
    // The calls of "run" are judged one by one.
    touchesOnlySession: ({ action }) => action !== 'create' && action !== 'update',
    inputSchema: RemoteTriggerInput,
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: ({ action, trigger_id, body }) =>
      `${titleOf(action)} ${trigger_id ?? ''} ${body === undefined ? '' : `(${body.title}: ${body.tool_uses.map(({ name }) => name).join(', ')})`}`,
    validateInput: validate,
    call: async (input, context) => ({ data: await act(services, input, context) }),
    mapToolResultToToolResultBlockParam: (text: string, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: text,
    }),
    getToolUseSummary: ({ action, trigger_id }) => `${action ?? ''} ${trigger_id ?? ''}`.trim(),
    getActivityDescription: () => 'Working with triggers',
    renderToolUseMessage: ({ action, trigger_id, body }): Display => ({
      title: `${titleOf(action)} ${trigger_id === undefined ? '' : showValue(trigger_id, '…')}`.trim(),
      blocks: body === undefined ? [] : [{ kind: 'code', language: 'json', text: JSON.stringify(body, null, 2) }],
    }),
    renderToolResultMessage: (text: string): Display => ({ title: 'Trigger', blocks: [{ kind: 'text', text }] }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Nothing done with triggers', message),
    renderToolUseErrorMessage: (message) => drawFailure('Trigger failed', message),
  });
}

function titleOf(action: RemoteTriggerArguments['action'] | undefined): string {
  const titles = { list: 'List triggers', get: 'Show trigger', create: 'Save a trigger', update: 'Change trigger' };
  return action === undefined ? 'Trigger' : action === 'run' ? 'Run trigger' : titles[action];
}

function validate({ action, trigger_id, body }: RemoteTriggerArguments): ValidationResult {
  const refuse = (message: string): ValidationResult => ({ result: false, message });
  const needsId = action !== 'list' && action !== 'create';
  const needsBody = action === 'create' || action === 'update';
  if (needsId !== (trigger_id !== undefined))
    return refuse(needsId ? `"${action}" needs "trigger_id"` : `"${action}" takes no "trigger_id": leave it out`);
  if (needsBody !== (body !== undefined))
    return refuse(needsBody ? `"${action}" needs "body"` : `"${action}" takes no "body": leave it out`);
  if (action === 'create' && body?.tool_uses.length === 0) return refuse('"body.tool_uses" is empty: name a call');
  return { result: true };
}

async function act(
  { triggers }: Pick<CronToolServices, 'triggers'>,
  { action, trigger_id: id = '', body }: RemoteTriggerArguments,
  context: ToolUseContext,
): Promise<string> {
  const { principal } = context;
  const given = () => {
    if (body === undefined) throw new GauntletError('invalid_input', `"${action}" needs "body"`);
    return { ...body, tool_uses: body.tool_uses as Trigger['tool_uses'], ...placeOf(context) };
  };
  try {
    switch (action) {
      case 'list': {
        const all = await triggers.list(principal);
        return all.length === 0 ? 'There are no triggers' : all.map(lineOf).join('\n');
      }
      case 'get':
        return JSON.stringify(shown(await triggers.get(principal, id)), null, 2);
      case 'create':
        return `Saved: ${lineOf(await triggers.create(principal, given()))}`;
      case 'update': {
        const trigger = await triggers.update(principal, id, given());
        return trigger.tool_uses.length === 0 ? `Removed ${id}` : `Changed: ${lineOf(trigger)}`;
      }
      case 'run':
        return await runNow(await triggers.get(principal, id), context);
    }
  } catch (error) {
    if (error instanceof GauntletError && error.code === 'not_found')
      throw new GauntletError('tool_failed', `${error.message}. "list" shows those that there are`, { cause: error });
    throw error;
  }
}

function placeOf({ rootSessionId, session, onlyTools }: ToolUseContext) {
  const atMost = permissionBound(session.permissions, onlyTools);
  return { sessionId: rootSessionId, cwd: session.root, atMost };
}

/** Run the calls side by side, as far as their tools allow. */
async function runNow({ tool_uses }: Trigger, { run }: ToolUseContext): Promise<string> {
  const results = await Promise.all(tool_uses.map(({ name, input }) => run({ name, input })));
  return results
    .map(({ status, content }, index) => `${tool_uses[index]?.name ?? ''}: ${status}\n${resultText(content)}`)
    .join('\n\n');
}

function lineOf({ id, title, tool_uses }: Trigger): string {
  return `${id}: ${showText(title)} (${tool_uses.map(({ name }) => name).join(', ')}), started by POST /triggers/${id}`;
}

function shown({ id, title, tool_uses, createdAt, cwd }: Trigger): JsonValue {
  return { id, title, tool_uses: tool_uses as JsonValue, cwd, created_at: createdAt };
}
