/** TeamDelete: ends a team and its mailboxes. */
import * as z from 'zod';
import { needsModel } from '../../src/agents/model.ts';
import type { Team } from '../../src/agents/teams.ts';
import { showText, showValue } from '../../src/base/hidden-characters.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { callerGroup, type OwnServices } from './own-services.ts';

const PROMPT = `Ends the team of this session and throws its unread messages away.

It is refused while agents with a name work: wait for them, or stop their tasks first. Use it when the work of the team is done.`;

/** Make TeamDelete. */
export function teamDeleteTool(services: OwnServices) {
  return buildTool({
    name: 'TeamDelete',
    searchHint: 'end the team of agents and its mailboxes',
    shouldDefer: true,
    ...needsModel(services),
    touchesOnlySession: () => true,
    isDestructive: () => true,
    inputSchema: z.strictObject({ name: z.string().min(1).max(64).describe('Name of the team') }),
    maxResultSizeChars: 10_000,
    prompt: () => PROMPT,
    description: ({ name }) => `Delete the team ${showText(name)}`,
    call: async ({ name }, context) => ({ data: await services.teams.delete(callerGroup(services, context), name) }),
    mapToolResultToToolResultBlockParam: ({ name }: Team, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: `Team "${name}" was deleted, with what waited in its mailboxes.`,
    }),
    getActivityDescription: () => 'Deleting a team',
    renderToolUseMessage: (input): Display => ({
      title: `Delete team ${showValue(input.name, '…')}`,
      tone: 'warning',
      blocks: [],
    }),
    renderToolResultMessage: ({ name }: Team): Display => ({
      title: `Team ${showText(name)} deleted`,
      tone: 'success',
      blocks: [],
    }),
  });
}
