/** Describes prompts of servers for models, as skills are described. */
import { hidingRule, type SourcedRule } from '../permissions/rule-index.ts';
import type { ToolPermissionContext } from '../wire/permission-context.ts';
import type { ServerOffer } from './offers.ts';
import type { McpPrompt } from './prompts.ts';
import { visibleLine } from './visible-text.ts';

/** Longest name where it is shown as the description. */
const NAME_CHARS = 200;

/** Arguments of a prompt as a hint, optional ones in brackets; undefined if it takes none. */
export function argumentHint({ arguments: args }: Pick<McpPrompt, 'arguments'>): string | undefined {
  if (args.length === 0) return undefined;
  return args.map(({ name, required }) => (required ? name : `[${name}]`)).join(' ');
}

/** Description of a prompt; its name where the server gives none. */
export function promptDescription({ description, title, sentName }: McpPrompt): string {
  return description ?? title ?? visibleLine(sentName, NAME_CHARS);
}

/** Return the rule that hides a prompt: one for its server, or for its name. */
export function promptHidingRule(
  permissions: ToolPermissionContext | undefined,
  { name, server }: Pick<McpPrompt, 'name' | 'server'>,
): SourcedRule | undefined {
  return permissions && hidingRule(permissions, { name, origin: { type: 'mcp', name: server } });
}

/** Select the prompts that no rule hides. */
export function visiblePrompts(
  offers: readonly ServerOffer[],
  permissions: ToolPermissionContext | undefined,
): readonly McpPrompt[] {
  const all = offers.flatMap(({ prompts }) => prompts);
  const shown = permissions ? all.filter((prompt) => promptHidingRule(permissions, prompt) === undefined) : all;
  return shown.toSorted((left, right) => (left.name < right.name ? -1 : 1));
}
