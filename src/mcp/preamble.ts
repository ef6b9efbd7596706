/**
 * Words ahead of a list of tools: what MCP servers say about their use, and the prompts that they offer as skills.
 *
 * They are apart from the list, so that servers that come and go do not change the descriptions of built-in tools.
 */
import { cutText } from '../base/cut-text.ts';
import { serverHidingRule } from '../permissions/rule-index.ts';
import type { ToolPool } from '../pool/tool-pool.ts';
import type { ListContext } from '../tool/tool.ts';
import type { CallerServers } from './caller-servers.ts';
import type { McpConnections } from './connections.ts';
import type { ServerOffer } from './offers.ts';
import { argumentHint, promptDescription, visiblePrompts } from './prompt-line.ts';
import type { McpPrompt } from './prompts.ts';

/** Instructions of all servers, in characters; further servers are counted. */
const MAX_INSTRUCTIONS_CHARS = 16 * 1_024;

/** List of the prompts, in characters, and one line of it. */
const MAX_PROMPTS_CHARS = 2_048;
const MAX_LINE_CHARS = 160;

/** A list of tools, as far as its preamble depends on it. */
export interface PreambleList extends ListContext {
  /** Report whether it has a tool. */
  has(name: string): boolean;
}

/** Tools by which a model reaches servers without tools. */
export interface ReachingTools {
  /** Loads skills, prompts of servers among them. */
  readonly skillTool: string;
  /** Reads resources of servers. */
  readonly resourceTool: string;
}

/** Creates the preamble of a list; undefined if there is nothing to say. */
export type Preamble = (list: PreambleList) => PreambleParts | undefined;

/** The parts of a preamble. */
export interface PreambleParts {
  /** Instructions of servers, each behind the server's name. */
  readonly instructions?: string;
  /** Prompts of servers that the list's tool for skills loads. */
  readonly skills?: string;
}

/** Create the function. */
export function createPreamble(
  mcp: Pick<CallerServers, 'offers'> & Pick<McpConnections, 'tools'>,
  { skillTool, resourceTool }: ReachingTools,
): Preamble {
  return (list) => {
    const { principal, permissions, home } = list;
    const offers = mcp.offers(principal, home?.rootId);
    if (offers.length === 0) return undefined;
    const prompts = list.has(skillTool) ? visiblePrompts(offers, permissions) : [];
    const reached = new Set(prompts.map(({ server }) => server));
    for (const { name, origin } of mcp.tools(principal)) if (origin && list.has(name)) reached.add(origin.name);
    const shown = offers.filter(
      ({ server }) =>
        (list.has(resourceTool) || reached.has(server)) && !(permissions && serverHidingRule(permissions, server)),
    );
    const instructions = instructionsText(shown);
    const skills = skillsText(prompts, skillTool);
    if (instructions === undefined && skills === undefined) return undefined;
    return { ...(instructions !== undefined && { instructions }), ...(skills !== undefined && { skills }) };
  };
}

/** Create the preambles of pools: the same object for the same pool, until servers offer something else. */
export function poolPreambles(
  servers: Pick<CallerServers, 'offers'>,
  create: Preamble,
): (pool: ToolPool) => PreambleParts | undefined {
  const known = new WeakMap<ToolPool, { readonly offers: readonly ServerOffer[]; readonly parts?: PreambleParts }>();
  return (pool) => {
    const { principal, permissions, home } = pool;
    const offers = servers.offers(principal, home?.rootId);
    const made = known.get(pool);
    if (made?.offers.length === offers.length && offers.every((offer, index) => offer === made.offers[index]))
      return made.parts;
    const parts = create({ principal, permissions, home, has: (name) => pool.lookup(name) !== undefined });
    known.set(pool, { offers, ...(parts && { parts }) });
    return parts;
  };
}

/** Join the parts. */
export function preambleText(parts: PreambleParts | undefined): string | undefined {
  const texts = [parts?.instructions, parts?.skills].filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

function instructionsText(offers: readonly ServerOffer[]): string | undefined {
  const saying = offers.filter(({ instructions }) => instructions !== undefined);
  const texts: string[] = [];
  let roomChars = MAX_INSTRUCTIONS_CHARS;
  for (const { server, instructions = '' } of saying) {
    // Each line is quoted, so that no server can speak in the name of another.
    const quoted = instructions.replace(/^/gm, '> ');
    roomChars -= quoted.length;
    if (roomChars < 0) break;
    texts.push(`The MCP server ${JSON.stringify(server)} says of its use:\n${quoted}`);
  }
  if (texts.length < saying.length)
    texts.push(`and ${saying.length - texts.length} more MCP servers have instructions`);
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

function skillsText(prompts: readonly McpPrompt[], skillTool: string): string | undefined {
  if (prompts.length === 0) return undefined;
  const lines = [`Skills of MCP servers, to load with ${skillTool}:`];
  let roomChars = MAX_PROMPTS_CHARS;
  for (const prompt of prompts) {
    const hint = argumentHint(prompt);
    const line = `- ${cutText(`${prompt.name}${hint === undefined ? '' : ` ${hint}`}: ${promptDescription(prompt)}`, MAX_LINE_CHARS)}`;
    roomChars -= line.length + 1;
    if (roomChars < 0) return [...lines, `and ${prompts.length - lines.length + 1} more`].join('\n');
    lines.push(line);
  }
  return lines.join('\n');
}
