/** CronDelete: ends a schedule. */
import * as z from 'zod';
import { needsModel } from '../../src/agents/model.ts';
import { showValue } from '../../src/base/hidden-characters.ts';
import type { Schedule } from '../../src/tasks/schedules.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import type { Display } from '../../src/wire/display.ts';
import { type CronToolServices } from './services.ts';

const PROMPT = `Ends a schedule of CronCreate: its prompt does not run again. A run that has begun goes on. CronList shows the ids.`;

/** Make CronDelete. */
export function cronDeleteTool(services: CronToolServices) {
  return buildTool({
    name: 'CronDelete',
    searchHint: 'end a scheduled prompt',
    shouldDefer: true,
    ...needsModel(services),
    // It only takes away what would be done later.
    touchesOnlySession: () => true,
    inputSchema: z.strictObject({
      id: z.string().min(1).max(64).describe('The schedule, as CronCreate and CronList name it'),
    }),
    maxResultSizeChars: 10_000,
    prompt: () => PROMPT,
    description: ({ id }) => `End the schedule ${id}`,
    call: async ({ id }, { principal }) => ({ data: await services.schedules.delete(principal, id) }),
    mapToolResultToToolResultBlockParam: ({ id, cron }: Schedule, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: `Ended the schedule ${id} (${cron})`,
    }),
    getToolUseSummary: ({ id }) => id ?? '',
    getActivityDescription: () => 'Ending a schedule',
    renderToolUseMessage: ({ id }): Display => ({ title: `End schedule ${showValue(id, '…')}`, blocks: [] }),
    renderToolResultMessage: ({ id }: Schedule): Display => ({
      title: `Schedule ${id} ended`,
      tone: 'success',
      blocks: [],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Schedule not ended', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not end the schedule', message),
  });
}
