/** CronCreate: schedules a prompt. */
import * as z from 'zod';
import { needsModel } from '../../src/agents/model.ts';
import { showValue } from '../../src/base/hidden-characters.ts';
import { GauntletError } from '../../src/base/errors.ts';
import { permissionBound } from '../../src/permissions/child-permissions.ts';
import { TOOL_ALIASES } from '../../src/permissions/rule-names.ts';
import { MAX_PROMPT_CHARS, MAX_SCHEDULES, type Schedule } from '../../src/tasks/schedules.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import type { ToolUseContext } from '../../src/tool/tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { type CronToolServices } from './services.ts';

const PROMPT = `Schedules a prompt: when it is due, an agent gets it and works as one that Agent starts, and the run is a turn in the log of this session.

Use it when the person wants something done at a time, or again and again. To wait a moment use Sleep; to watch for an event use Monitor.

- \`cron\` has five fields in the time zone of the server: minute, hour, day of month, month, day of week
- The agent sees nothing of this conversation: say all that it must know, and where its result belongs
- It may do what this session may now, or less if the session may less by then
- \`recurring: false\` runs once and is gone. With \`durable\` the schedule survives the server; a run once that was due meanwhile runs at the start, others wait for their next time
- A run that still goes on is not begun again. At most ${MAX_SCHEDULES} schedules; CronList shows them, CronDelete ends one`;

const CronCreateInput = z.strictObject({
  cron: z.string().min(9).max(200).describe('When: five fields, as in "*/15 * * * *" or "0 9 * * 1-5"'),
  prompt: z.string().min(1).max(MAX_PROMPT_CHARS).describe('The task of the agent, whole'),
  recurring: z.boolean().optional().describe('Run each time that it is due (default true), or once and never again'),
  durable: z
    .boolean()
    .optional()
    .describe('Keep the schedule over restarts of the server (default false), also when this session is gone'),
});

/** A parsed input. */
export type CronCreateArguments = z.output<typeof CronCreateInput>;

/** Make CronCreate. */
export function cronCreateTool(services: CronToolServices) {
  return buildTool({
    name: 'CronCreate',
    aliases: TOOL_ALIASES.CronCreate,
    searchHint: 'schedule a prompt for later or regularly',
    shouldDefer: true,
    ...needsModel(services),
    inputSchema: CronCreateInput,
    maxResultSizeChars: 10_000,
    prompt: () => PROMPT,
    description: ({ cron, recurring = true }) =>
      `Run a prompt ${recurring ? 'each time' : 'once'} when "${cron}" is due, without this person present`,
    toAutoClassifierInput: ({ cron, prompt }) => `schedule "${cron}": ${prompt}`,
    call: async (input, context) => ({ data: await create(services, input, context) }),
    mapToolResultToToolResultBlockParam: ({ id, nextAt, recurring, durable }: Schedule, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: `Scheduled as ${id}, ${recurring ? 'again and again' : 'once'}, next at ${nextAt}. ${durable ? 'It survives the server' : 'It goes with the server'}`,
    }),
    getToolUseSummary: ({ cron }) => cron ?? '',
    getActivityDescription: () => 'Scheduling a prompt',
    renderToolUseMessage: ({ cron, prompt, recurring, durable }): Display => ({
      title: `Schedule ${showValue(cron, '…')}`,
      subtitle: [
        recurring === false ? 'once' : 'recurring',
        durable === true ? 'durable' : 'until the server ends',
      ].join(', '),
      blocks: typeof prompt === 'string' && prompt !== '' ? [{ kind: 'text', text: prompt }] : [],
    }),
    renderToolResultMessage: ({ id, nextAt }: Schedule): Display => ({
      title: `Scheduled as ${id}`,
      subtitle: `Next at ${nextAt}`,
      tone: 'success',
      blocks: [],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Nothing scheduled', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not schedule', message),
  });
}

async function create(
  { schedules }: CronToolServices,
  { cron, prompt, recurring = true, durable = false }: CronCreateArguments,
  { principal, rootSessionId, session, tools, onlyTools }: ToolUseContext,
): Promise<Schedule> {
  if (!tools.some(({ name }) => name === 'Agent')) {
    const message =
      'Cannot schedule a prompt: this session has no Agent, which would run it. Ask the person to allow it';
    throw new GauntletError('tool_failed', message);
  }
  const atMost = permissionBound(session.permissions, onlyTools);
  const place = { sessionId: rootSessionId, cwd: session.root, atMost };
  return schedules.create(principal, { cron: cron.trim(), prompt, recurring, durable, ...place });
}
