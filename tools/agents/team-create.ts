/** TeamCreate: makes the named agents of a session a team, whose mail is kept. */
import * as z from 'zod';
import { needsModel } from '../../src/agents/model.ts';
import type { Team } from '../../src/agents/teams.ts';
import { showText, showValue } from '../../src/base/hidden-characters.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { callerGroup, type OwnServices } from './own-services.ts';

const PROMPT = `Makes a team of the agents that are started with a name in this session, those at work now and those to come.

Its members are told of the team and of each other, and a message to one that does not work waits for it. Use it before you start several agents that depend on each other's findings; agents with separate tasks need none. A session has one team at a time.`;

const TeamCreateInput = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z][\w-]{0,63}$/, 'expected 1 to 64 letters, digits, "_" and "-", the first a letter')
    .describe('Name of the team'),
  description: z.string().max(2_000).optional().describe('What the team is for: each member is told it'),
});

/** Make TeamCreate. */
export function teamCreateTool(services: OwnServices) {
  return buildTool({
    name: 'TeamCreate',
    searchHint: 'make a team of agents that write to each other',
    shouldDefer: true,
    ...needsModel(services),
    touchesOnlySession: () => true,
    inputSchema: TeamCreateInput,
    maxResultSizeChars: 10_000,
    prompt: () => PROMPT,
    description: ({ name }) => `Create the team ${name}`,
    call: async ({ name, description = '' }, context) => ({
      data: await services.teams.create(callerGroup(services, context), { name, description }),
    }),
    mapToolResultToToolResultBlockParam: ({ name, members }: Team, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: `Team "${name}" is there. ${membersText(members)} Agents that are started with a name join it.`,
    }),
    getActivityDescription: () => 'Creating a team',
    renderToolUseMessage: (input): Display => ({
      title: `Create team ${showValue(input.name, '…')}`,
      ...(typeof input.description === 'string' && { subtitle: showText(input.description) }),
      blocks: [],
    }),
    renderToolResultMessage: ({ name }: Team): Display => ({
      title: `Team ${showText(name)} created`,
      tone: 'success',
      blocks: [],
    }),
  });
}

function membersText(members: readonly string[]): string {
  return members.length === 0 ? 'It has no members yet.' : `Its members: ${members.join(', ')}.`;
}
