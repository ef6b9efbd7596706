/**
 * Completes what a plugin exports to a tool, or says which member is wrong.
 *
 * What may be left out beyond `buildTool`'s own defaults: `description`, the mapping of the result and
 * its limit. `prompt` and `description` may be plain texts.
 */
import { z } from 'zod';
import type { ToolResultBlock } from '../wire/blocks.ts';
import { alwaysEnabled, buildTool } from '../tool/build-tool.ts';
import type { ListContext, Tool } from '../tool/tool.ts';
import { pluginInput } from './plugin-input.ts';

/** Aliases of one tool. */
const MAX_ALIASES = 16;

/** What the model APIs take as a name; the prefix of MCP tools belongs to their servers. */
const name = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected 1 to 64 letters, digits, "_" or "-"')
  .refine((value) => !value.startsWith('mcp__'), 'must not begin with "mcp__"');

const isFunction = (value: unknown) => typeof value === 'function';
const method = z.custom<(...given: never[]) => unknown>(isFunction, 'expected a function');
const words = z.union([z.string(), method], 'expected a text or a function');
const flag = z.boolean().optional();
const optional = method.optional();

/** Every member of a tool with the kind of value it is. Further members are kept: they may be a plugin's own. */
const Definition = z.looseObject({
  name,
  aliases: z.array(name).max(MAX_ALIASES).optional(),
  searchHint: z.string().optional(),
  inputSchema: z.custom<object>((value) => typeof value === 'object' && value !== null, 'expected a Zod schema'),
  prompt: words,
  description: words.optional(),
  call: method,
  mapToolResultToToolResultBlockParam: optional,
  maxResultSizeChars: z.number().positive().or(z.literal(Infinity)).optional(),
  shouldDefer: flag,
  alwaysLoad: flag,
  strict: flag,
  touchesOnlySession: z.union([z.boolean(), method], 'expected true, false or a function').optional(),
  isFileEdit: flag,
  abortsSiblings: flag,
  isOutsideTurnBudget: flag,
  ...Object.fromEntries(
    [
      ...[
        'userFacingName',
        'isEnabled',
        'disabledReason',
        'analyse',
        'validateInput',
        'checkPermissions',
        'isReadOnly',
      ],
      ...['isConcurrencySafe', 'isDestructive', 'toAutoClassifierInput', 'backfillObservableInput'],
      ...['preparePermissionMatcher', 'paths', 'warnings', 'suggestRules', 'interruptBehavior', 'isResultTruncated'],
      ...['isSearchOrReadCommand', 'toHookResponse', 'getToolUseSummary', 'getActivityDescription'],
      ...['renderToolUseMessage', 'renderToolUseProgressMessage', 'renderToolResultMessage'],
      ...['renderToolUseRejectedMessage', 'renderToolUseErrorMessage', 'renderGroupedToolUse'],
    ].map((member) => [member, optional]),
  ),
});

/**
 * Make the tool of one export.
 *
 * @param exported A definition as `buildTool` takes it, or a tool that it made.
 * @param plugin Names the plugin in the tool's origin.
 * @param resultChars What a result may have where the definition does not say.
 * @throws {Error} That names the member and what is wrong with it.
 */
export function pluginTool(exported: unknown, plugin: string, resultChars: number): Tool {
  const parsed = Definition.safeParse(exported);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`"${issue?.path.join('.') || 'default export'}": ${issue?.message ?? 'malformed'}`);
  }
  const { inputSchema, prompt, description = parsed.data.name, ...members } = parsed.data;
  const { touchesOnlySession } = members;
  return buildTool({
    mapToolResultToToolResultBlockParam: textResult,
    maxResultSizeChars: resultChars,
    ...(members as unknown as Pick<Tool, 'name' | 'call'>),
    ...pluginInput(inputSchema),
    ...(typeof touchesOnlySession === 'boolean' && { touchesOnlySession: () => touchesOnlySession }),
    isEnabled: enabledBy(members['isEnabled']),
    prompt: spoken(prompt, parsed.data.name),
    description: spoken(description, parsed.data.name),
    origin: { type: 'plugin', name: plugin },
  });
}

/** Texts of its own are asked for while lists are made and questions put: one that throws must not spoil those. */
function spoken(words: string | ((...given: never[]) => unknown), name: string): () => string {
  if (typeof words === 'string') return () => words;
  return (...given: unknown[]) => {
    try {
      const text = words(...(given as never[]));
      return typeof text === 'string' ? text : name;
    } catch {
      // Its name is all that is known of it.
      return name;
    }
  };
}

/** A tool that cannot say whether it can be used cannot. */
function enabledBy(isEnabled: unknown): Tool['isEnabled'] {
  if (typeof isEnabled !== 'function') return alwaysEnabled;
  return (list) => {
    try {
      return (isEnabled as (given: ListContext) => unknown)(list) === true;
    } catch {
      // As said above.
      return false;
    }
  };
}

/** A text as it is, everything else as JSON. */
function textResult(output: unknown, toolUseId: string): ToolResultBlock {
  const content = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
  return { type: 'tool_result', tool_use_id: toolUseId, content };
}
