/**
 * Prompts of MCP servers as skills: the arguments come as one text, and the messages of the prompt are the instructions.
 */
import { GauntletError } from '../../src/base/errors.ts';
import type { CallerServers } from '../../src/mcp/caller-servers.ts';
import { argumentHint, promptDescription, promptHidingRule, visiblePrompts } from '../../src/mcp/prompt-line.ts';
import type { McpPrompt } from '../../src/mcp/prompts.ts';
import type { ListContext, ToolUseContext } from '../../src/tool/tool.ts';
import type { ResultContentBlock } from '../../src/wire/blocks.ts';
import type { ListedSkill } from './skill-catalogue.ts';

/** Servers whose prompts are skills. */
export type PromptServers = Pick<CallerServers, 'offers' | 'getPrompt' | 'states'>;

/** Values of a prompt's arguments by name, or the reason why they cannot be read. */
export type ReadArguments =
  | { readonly kind: 'values'; readonly values: Readonly<Record<string, string>> }
  | { readonly kind: 'problem'; readonly message: string };

/** Caller of the tool, as far as it decides which prompts there are. */
export interface PromptCaller extends Pick<ListContext, 'principal' | 'permissions'> {
  /** Absent where there is no session: servers of folders belong to one. */
  readonly rootSessionId?: string;
}

/** Find a prompt by its name for models. @returns Also one that a rule hides. */
export function findPrompt(
  servers: PromptServers | undefined,
  name: string,
  { principal, rootSessionId }: PromptCaller,
) {
  if (!name.startsWith('mcp__')) return undefined;
  return servers
    ?.offers(principal, rootSessionId)
    .flatMap(({ prompts }) => prompts)
    .find((prompt) => prompt.name === name);
}

/** List the prompts that no rule hides, as skills. */
export function promptSkills(
  servers: PromptServers | undefined,
  { principal, permissions, rootSessionId }: PromptCaller,
): readonly ListedSkill[] {
  return visiblePrompts(servers?.offers(principal, rootSessionId) ?? [], permissions).map((prompt) => {
    const hint = argumentHint(prompt);
    return {
      name: prompt.name,
      description: promptDescription(prompt),
      ...(hint !== undefined && { argumentHint: hint }),
    };
  });
}

/** Say why a prompt cannot be got with these arguments; undefined if it can. */
export function promptProblem(prompt: McpPrompt, args: string, { permissions }: PromptCaller): string | undefined {
  const rule = promptHidingRule(permissions, prompt);
  if (rule) return `The skill "${prompt.name}" is not available (deny rule: "${rule.rule}")`;
  const read = readArguments(prompt, args);
  return read.kind === 'problem' ? read.message : undefined;
}

/** Get the messages of a prompt. @throws {GauntletError} As `McpConnections.getPrompt`. */
export async function loadPrompt(
  servers: PromptServers,
  prompt: McpPrompt,
  args: string,
  { signal, principal, rootSessionId }: Pick<ToolUseContext, 'signal' | 'principal' | 'rootSessionId'>,
): Promise<readonly ResultContentBlock[]> {
  const read = readArguments(prompt, args);
  if (read.kind === 'problem') throw new GauntletError('tool_failed', read.message);
  const blocks = await servers.getPrompt(prompt, read.values, signal, principal, rootSessionId);
  const head = `Skill "${prompt.name}", a prompt of the MCP server ${JSON.stringify(prompt.server)}.`;
  const [first, ...rest] = blocks;
  return first?.type === 'text'
    ? [{ ...first, text: `${head}\n\n${first.text}` }, ...rest]
    : [{ type: 'text', text: head }, ...blocks];
}

/**
 * Read the arguments of a prompt: `name=value` pairs, a JSON object of them, or the whole text for a single argument.
 *
 * A value may hold blanks; it ends where the next `name=` begins. Quotes around it are removed.
 */
export function readArguments(prompt: Pick<McpPrompt, 'name' | 'arguments'>, text: string): ReadArguments {
  const trimmed = text.trim();
  const names = prompt.arguments.map(({ name }) => name);
  const values = trimmed === '' ? {} : (jsonValues(trimmed, names) ?? pairedValues(trimmed, names));
  const [only] = names;
  if (values === undefined && names.length === 1 && only !== undefined) return ok({ [only]: trimmed });
  if (values === undefined) return problem(`Cannot read the arguments of "${prompt.name}"`, prompt);
  const missing = prompt.arguments.find(({ name, required }) => required && !Object.hasOwn(values, name));
  if (missing) return problem(`The skill "${prompt.name}" needs the argument "${missing.name}"`, prompt);
  return ok(values);
}

function ok(values: Readonly<Record<string, string>>): ReadArguments {
  return { kind: 'values', values };
}

function problem(what: string, { arguments: args }: Pick<McpPrompt, 'arguments'>): ReadArguments {
  if (args.length === 0) return { kind: 'problem', message: `${what}: it takes none` };
  const listed = args.map(({ name, required }) => (required ? `${name} (required)` : name)).join(', ');
  return { kind: 'problem', message: `${what}. Write name=value for each of: ${listed}` };
}

/** Read a JSON object that holds none but these names; undefined for anything else. */
function jsonValues(text: string, names: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const entries = Object.entries(JSON.parse(text) as object);
    if (!entries.every(([name]) => names.includes(name))) return undefined;
    return Object.fromEntries(
      entries.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    );
  } catch {
    // Text that begins with a brace.
    return undefined;
  }
}

/** Read `name=value` pairs; undefined if the text does not begin with one. */
function pairedValues(text: string, names: readonly string[]): Readonly<Record<string, string>> | undefined {
  const found: { readonly name: string; readonly from: number; readonly to: number }[] = [];
  for (const { index, 0: word } of text.matchAll(/\S+/g)) {
    const name = names.find((one) => word.startsWith(`${one}=`));
    if (name !== undefined) found.push({ name, from: index, to: index + name.length + 1 });
  }
  if (found[0]?.from !== 0) return undefined;
  return Object.fromEntries(
    found.map(({ name, to }, place) => [name, unquoted(text.slice(to, found[place + 1]?.from).trim())]),
  );
}

function unquoted(value: string): string {
  return /^(["']).*\1$/s.test(value) && value.length > 1 ? value.slice(1, -1) : value;
}
