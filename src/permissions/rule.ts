/**
 * Parses one permission rule: `Tool`, `Tool(spec)`, `mcp__server`, `mcp__server__*`, `mcp__server__get-*`.
 *
 * Parsing checks the syntax only; `ruleKeys` decides whether a rule applies to a tool, and the matcher whether its spec
 * matches an input.
 */
import { GauntletError } from '../base/errors.ts';
import type { Tool } from '../tool/tool.ts';
import { matchesWildcard } from '../base/wildcard.ts';
import { canonicalName } from './rule-names.ts';

/** A parsed rule. */
export interface PermissionRule {
  /** Source text without surrounding blanks. */
  readonly text: string;
  /**
   * Name of a tool, never an alias of a built-in one; `mcp__server` for a whole server, `mcp` for all of them, a name with
   * `*` for several tools of one server.
   */
  readonly toolName: string;
  /** Text between the brackets; absent if the rule covers every input. */
  readonly spec?: string;
}

/** A server may be called almost anything, so its rules may be, too. */
const RULE = /^(mcp__[^()\r\n]*|[A-Za-z_][\w-]*)(?:\(([\s\S]*)\))?$/;
const EXPECTED = 'Expected Tool, Tool(spec), mcp__server, mcp__server__*, mcp__server__tool or mcp__server__prefix*';

/** Tools of one server by a pattern of their names. */
const TOOL_PATTERN = /^mcp__.+?__[\w*-]+$/;

/**
 * Parse one rule.
 *
 * @throws {GauntletError} `invalid_request`; the message names the text and what was expected.
 */
export function parseRule(text: string): PermissionRule {
  const trimmed = text.trim();
  const match = RULE.exec(trimmed);
  const name = match?.[1];
  if (name === undefined) throw invalid(trimmed, EXPECTED);
  const spec = match?.[2]?.trim();
  const toolName = name.endsWith('__*') ? name.slice(0, -3) : canonicalName(name);
  if (toolName.includes('*') && !TOOL_PATTERN.test(toolName)) throw invalid(trimmed, EXPECTED);
  if (spec === undefined || spec === '' || spec === '*') return { text: trimmed, toolName };
  if (name.startsWith('mcp__')) throw invalid(trimmed, 'A rule for an MCP tool has no spec: write the bare name');
  if (spec.startsWith('!')) throw invalid(trimmed, 'A spec cannot be negated: write a rule of the opposite behavior');
  if (spec === ':*') throw invalid(trimmed, `Expected a prefix before ":*"; for every input write "${name}"`);
  return { text: trimmed, toolName, spec };
}

/** Members of a tool that decide which rules apply to it. */
export type RuledTool = Pick<Tool, 'name' | 'aliases' | 'origin' | 'rulesOf'>;

/** Return the `toolName`s whose rules and hooks apply to this tool: its own, and those of tools that do the same. */
export function governingKeys(tool: RuledTool): readonly string[] {
  return tool.rulesOf ? [...ruleKeys(tool), ...tool.rulesOf] : ruleKeys(tool);
}

/**
 * Return the names by which rules and lists of tools mean this tool: its name, the aliases of a plugin's tool, its MCP
 * server.
 *
 * @returns Exact names first.
 */
export function ruleKeys(tool: Pick<Tool, 'name' | 'aliases' | 'origin'>): readonly string[] {
  return [tool.name, ...(tool.aliases ?? []), ...serverKeys(tool)];
}

function serverKeys(tool: Pick<Tool, 'name' | 'origin'>): readonly string[] {
  if (tool.origin?.type === 'mcp') {
    // As it is configured: "my_srv" is another server than "my.srv".
    return ['mcp', `mcp__${tool.origin.name}`];
  }
  if (!tool.name.startsWith('mcp__')) return [];
  const [, server] = tool.name.split('__');
  return ['mcp', `mcp__${server ?? ''}`];
}

/** Report whether a rule's name with `*` means this tool: the server by its whole name, the tool by the pattern. */
export function matchesToolPattern(pattern: string, { name, origin }: Pick<Tool, 'name' | 'origin'>): boolean {
  if (origin?.type !== 'mcp') return false;
  const prefix = `mcp__${origin.name}__`;
  return pattern.startsWith(prefix) && matchesWildcard(pattern.slice(prefix.length), name.slice(prefix.length));
}

function invalid(text: string, expected: string): GauntletError {
  return new GauntletError('invalid_request', `Cannot use rule ${JSON.stringify(text)}: ${expected}`, {
    details: { reason: 'invalid_rule' },
  });
}
