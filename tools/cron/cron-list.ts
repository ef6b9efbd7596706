/** CronList: shows the schedules. */
import * as z from 'zod';
import { needsModel } from '../../src/agents/model.ts';
import { cutText } from '../../src/base/cut-text.ts';
import { showText } from '../../src/base/hidden-characters.ts';
import type { Schedule } from '../../src/tasks/schedules.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import type { Display } from '../../src/wire/display.ts';
import { type CronToolServices } from './services.ts';

/** Characters of a prompt in the list. */
const PROMPT_CHARS = 200;

const PROMPT = `Lists the schedules of CronCreate, those of your other sessions too: id, times, when each is due next, and its prompt.`;

/** Make CronList. */
export function cronListTool(services: CronToolServices) {
  return buildTool({
    name: 'CronList',
    searchHint: 'list scheduled prompts',
    shouldDefer: true,
    ...needsModel(services),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    touchesOnlySession: () => true,
    inputSchema: z.strictObject({}),
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: () => 'List the schedules',
    call: (_input, { principal }) => Promise.resolve({ data: services.schedules.list(principal) }),
    mapToolResultToToolResultBlockParam: (schedules: readonly Schedule[], toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: schedules.length === 0 ? 'There are no schedules' : schedules.map(scheduleLine).join('\n'),
    }),
    getActivityDescription: () => 'Listing the schedules',
    renderToolUseMessage: (): Display => ({ title: 'Schedules', blocks: [] }),
    renderToolResultMessage: (schedules: readonly Schedule[]): Display => ({
      title: `${schedules.length} schedules`,
      blocks: schedules.length === 0 ? [] : [{ kind: 'list', items: schedules.map(scheduleLine) }],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Schedules not listed', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not list the schedules', message),
  });
}

function scheduleLine({ id, cron, recurring, durable, nextAt, running, runs, prompt }: Schedule): string {
  const kind = `${recurring ? 'recurring' : 'once'}${durable ? ', durable' : ''}`;
  const when = running ? 'runs now' : `next at ${nextAt}`;
  return `${id}: ${cron} (${kind}), ${when}, ${runs} runs: ${cutText(showText(prompt), PROMPT_CHARS)}`;
}
