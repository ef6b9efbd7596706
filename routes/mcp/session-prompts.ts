/**
 * The prompts of a session for MCP clients: the skills of this server, then the prompts of MCP servers.
 */
import {
  type GetPromptResult,
  type InputRequiredResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server';
import { promptDescription, visiblePrompts } from '../../src/mcp/prompt-line.ts';
import type { McpPrompt } from '../../src/mcp/prompts.ts';
import type { Session } from '../../src/session/session.ts';
import { resultText } from '../../src/wire/result-text.ts';
import type { McpDoorContext } from './dependencies.ts';
import { toContent } from './content.ts';
import { answered } from './protocol-error.ts';
import type { RunBlock } from './tool-call.ts';

/** Dependencies of the prompts. */
export interface PromptOptions extends Pick<McpDoorContext, 'skills' | 'upstreams'> {
  session(): Promise<Session>;
}

/** Report whether there are prompts, or may be once a server connects. */
export function mayHavePrompts({ skills, upstreams }: Pick<McpDoorContext, 'skills' | 'upstreams'>): boolean {
  return skills.list.length > 0 || upstreams.states().some(({ state }) => state !== 'disabled');
}

/** List the prompts of MCP servers that a session sees. */
export function upstreamPrompts(
  { skills, upstreams }: Pick<McpDoorContext, 'skills' | 'upstreams'>,
  session: Session,
): readonly McpPrompt[] {
  if (session.pool().lookup(skills.tool) === undefined) return [];
  const own = new Set(skills.list.map(({ name }) => name));
  const prompts = visiblePrompts(upstreams.offers(session.principal), session.context.permissions);
  return prompts.filter(({ name }) => !own.has(name));
}

/** Add the prompts. One is got by a call of the tool that loads skills, so that the gate decides. */
export function addPrompts(server: Server, options: PromptOptions, run: RunBlock): void {
  const { skills } = options;
  server.setRequestHandler('prompts/list', () =>
    answered(async () => {
      const session = await options.session();
      if (session.pool().lookup(skills.tool) === undefined) return { prompts: [] };
      return { prompts: [...skills.list.map(skillPrompt), ...upstreamPrompts(options, session).map(serverPrompt)] };
    }),
  );
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    answered(async (): Promise<GetPromptResult | InputRequiredResult> => {
      const { name, arguments: given } = params;
      const prompt = upstreamPrompts(options, await options.session()).find((one) => one.name === name);
      if (!prompt && !skills.list.some((skill) => skill.name === name))
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${name}"`);
      // As JSON, since the values may hold anything.
      const args = prompt ? given && JSON.stringify(given) : given?.['arguments'];
      const [end] = await run(skills.tool, { skill: name, ...(args !== undefined && { args }) }, context);
      if (end.kind === 'asks') return end.result;
      const [result] = end.reply.results;
      const content = toContent(result?.content ?? '');
      if (result?.is_error === true)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, resultText(result.content));
      return { messages: content.map((block) => ({ role: 'user', content: block })) };
    }),
  );
}

function skillPrompt({ name, description, argumentHint }: McpDoorContext['skills']['list'][number]): Prompt {
  const argument = { name: 'arguments', description: argumentHint ?? 'Arguments of the skill, in one text' };
  return { name, description, arguments: [argument] };
}

function serverPrompt(prompt: McpPrompt): Prompt {
  const { name, title } = prompt;
  return {
    name,
    ...(title !== undefined && { title }),
    description: promptDescription(prompt),
    arguments: prompt.arguments.map(({ description, ...argument }) => ({
      ...argument,
      ...(description !== undefined && { description }),
    })),
  };
}
