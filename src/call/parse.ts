/**
 * Step 1: a block becomes an invocation of a tool, or ends with what is wrong with it.
 */
import type { ToolUseBlock } from '../wire/blocks.ts';
import type { JsonValue } from '../base/json.ts';
import { Invocation, type ToolInput } from '../tool/invocation.ts';
import type { Tool } from '../tool/tool.ts';
import type { ToolPool } from '../pool/tool-pool.ts';
import { type Ended, ended, failedOutcome } from './outcome.ts';
import { validationErrorText } from './validation-error.ts';

/** Which tools there are, and which of them gives the schemas of deferred ones. */
export interface ParseServices {
  readonly pool: ToolPool;
  readonly schemaTool?: string;
}

/** What parsing comes to. */
export type Parsed = { readonly kind: 'parsed'; readonly invocation: Invocation } | Ended;

/** Find a block's tool, by name or alias, and parse its input. */
export function parseBlock(block: ToolUseBlock, services: ParseServices): Parsed {
  const tool = services.pool.lookup(block.name);
  return tool ? parseInput(block, tool, block.input, services) : noSuchTool(block.name, services.pool);
}

/** Parse an input for a known tool: of a block, or what a hook, a tool or a person put in its place. */
export function parseInput(
  block: ToolUseBlock,
  tool: Tool,
  input: JsonValue | ToolInput,
  services: ParseServices,
): Parsed {
  const result = tool.inputSchema.safeParse(withoutInternalFields(tool, input));
  if (result.success) return { kind: 'parsed', invocation: new Invocation(block, tool, result.data) };
  const schemaTool = services.pool.isDeferred(tool) ? services.schemaTool : undefined;
  return ended(failedOutcome('invalid_input', validationErrorText(tool.name, result.error.issues, schemaTool)));
}

function withoutInternalFields(tool: Tool, input: unknown): unknown {
  const fields = tool.internalFields;
  if (!fields || typeof input !== 'object' || input === null) return input;
  return Object.fromEntries(Object.entries(input).filter(([field]) => !fields.includes(field)));
}

function noSuchTool(name: string, pool: ToolPool): Ended {
  const hidden = pool.hiddenTool(name);
  if (hidden)
    return ended(failedOutcome(hidden.cause === 'deny rule' ? 'permission_denied' : 'unknown_tool', hidden.message));
  const alike = pool.tools.find((tool) => tool.name.toLowerCase() === name.toLowerCase());
  const advice = alike ? `; did you mean "${alike.name}"?` : ': use one of the listed tools';
  return ended(failedOutcome('unknown_tool', `There is no tool "${name}"${advice}`));
}
