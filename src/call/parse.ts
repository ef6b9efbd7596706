/**
 * Step 1: a block becomes a tool and an input that fits its schema, or a result that says why not.
 */
import type { JsonValue, ToolUseBlock } from '../contract/blocks.ts';
import type { Tool } from '../contract/tool.ts';
import type { ToolPool } from '../pool/tool-pool.ts';
import { type CallOutcome, failedOutcome } from './outcome.ts';
import { validationErrorText } from './validation-error.ts';

/** Which tools there are, and which of them gives the schemas of deferred ones. */
export interface ParseServices {
  readonly pool: ToolPool;
  readonly schemaTool?: string;
}

/** A block whose tool is known and whose input fits. */
export interface ParsedCall {
  readonly block: ToolUseBlock;
  readonly tool: Tool;
  /** Parsed: defaults filled in, unknown fields refused. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** Find a block's tool, by name or alias, and parse its input. */
export function parseCall(block: ToolUseBlock, services: ParseServices): ParsedCall | CallOutcome {
  const tool = services.pool.lookup(block.name);
  if (!tool) return noSuchTool(block.name, services.pool);
  const parsed = parseInput(tool, block.input, services);
  return 'errorCode' in parsed ? parsed : { block, tool, input: parsed.input };
}

/** Parse an input a second time, after a hook, a tool or a person replaced it. */
export function parseInput(
  tool: Tool,
  raw: JsonValue | Readonly<Record<string, unknown>>,
  services: ParseServices,
): { readonly input: Readonly<Record<string, unknown>> } | (CallOutcome & { readonly errorCode: string }) {
  const result = tool.inputSchema.safeParse(withoutInternalFields(tool, raw));
  if (result.success) return { input: result.data };
  const schemaTool = services.pool.isDeferred(tool) ? services.schemaTool : undefined;
  const text = validationErrorText(tool.name, result.error.issues, schemaTool);
  return { ...failedOutcome('invalid_input', text), errorCode: 'invalid_input' };
}

function withoutInternalFields(tool: Tool, raw: unknown): unknown {
  const fields = tool.internalFields;
  if (!fields || typeof raw !== 'object' || raw === null) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([field]) => !fields.includes(field)));
}

function noSuchTool(name: string, pool: ToolPool): CallOutcome {
  const hidden = pool.hiddenTool(name);
  if (hidden) return failedOutcome(hidden.cause === 'deny rule' ? 'permission_denied' : 'unknown_tool', hidden.message);
  const alike = pool.tools.find((tool) => tool.name.toLowerCase() === name.toLowerCase());
  const advice = alike ? `; did you mean "${alike.name}"?` : ': use one of the listed tools';
  return failedOutcome('unknown_tool', `There is no tool "${name}"${advice}`);
}
