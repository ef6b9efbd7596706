/** Skill: gives the model the instructions of a skill, with its arguments filled in. */
import * as z from 'zod';
import { nearestKey } from '../../config/settings/section.ts';
import { cutText } from '../../src/base/cut-text.ts';
import { errorMessage, GauntletError } from '../../src/base/errors.ts';
import { showValue } from '../../src/base/hidden-characters.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { ContextModifier } from '../../src/tool/session-context.ts';
import type { PermissionMatcher, ToolResult, ToolUseContext, ValidationResult } from '../../src/tool/tool.ts';
import type { ResultContentBlock } from '../../src/wire/blocks.ts';
import type { Display } from '../../src/wire/display.ts';
import type { RuleSet } from '../../src/wire/permission-context.ts';
import { resultText } from '../../src/wire/result-text.ts';
import type { McpPrompt } from '../../src/mcp/prompts.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import type { MoreToolServices } from './services.ts';
import {
  findPrompt,
  loadPrompt,
  type PromptCaller,
  promptProblem,
  type PromptServers,
  promptSkills,
} from './mcp-skills.ts';
import { readSkillWords, type Skill, skillLine } from './skill-catalogue.ts';

/** Name of the tool. */
export const SKILL_TOOL = 'Skill';

const PROMPT = `Loads a skill: instructions, and often scripts and templates, for a kind of task. Load one before you begin a task that its description fits, then follow what it says.

Skills that do not stand here are found by ToolSearch, in words.`;

/** Length of the list of skills in the prompt; the others are found by ToolSearch. */
const MAX_LISTED_CHARS = 700;
const MAX_LINE_CHARS = 160;
const MAX_ARGUMENT_CHARS = 10_000;

const SkillInput = z.strictObject({
  skill: z.string().min(1).max(200).describe('Name of the skill, as it is listed'),
  args: z.string().max(MAX_ARGUMENT_CHARS).optional().describe('Arguments of the skill, in one text'),
});

/** A parsed input. */
export type SkillArguments = z.output<typeof SkillInput>;

/** Make Skill. */
export function skillTool(services: MoreToolServices) {
  const { limits } = services;
  const book = skillBook(services);
  return buildTool({
    name: SKILL_TOOL,
    searchHint: 'load instructions for a kind of task',
    alwaysLoad: true,
    // Not by what servers offer just now, so that the list does not change when one connects.
    isEnabled: () => book.usable.length > 0 || book.hasServers,
    disabledReason: () =>
      'no skill is configured: set "skills" to folders that hold folders with a SKILL.md, or "mcpServers"',
    // A prompt is got from its server, which learns the arguments.
    touchesOnlySession: book.hasServers ? ({ skill }) => !book.isPrompt(skill) : () => true,
    isReadOnly: ({ skill }) => book.isPrompt(skill),
    inputSchema: SkillInput,
    maxResultSizeChars: 100_000,
    prompt: () => book.words,
    description: (input) => `Load the skill ${input.skill}`,
    validateInput: (input, context) => validate(book, input, context),
    checkPermissions: ({ skill }) => {
      const rules = book.find(skill)?.allowedTools ?? [];
      if (rules.length === 0) return { behavior: 'allow' };
      return { behavior: 'ask', message: `The skill "${skill}" lets calls through unasked: ${rules.join(', ')}` };
    },
    preparePermissionMatcher: ({ skill }) => skillMatcher(bareName(skill)),
    suggestRules: ({ skill }) => [`Skill(${bareName(skill)})`],
    call(input, context) {
      const prompt = book.findPrompt(input.skill, context);
      return prompt && services.mcp
        ? loadMcpSkill(services.mcp, prompt, input, context)
        : loadSkill(book.find(input.skill), input, context);
    },
    mapToolResultToToolResultBlockParam: ({ text, blocks }: SkillOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: blocks ?? text,
    }),
    getToolUseSummary: (input) => input.skill ?? '',
    getActivityDescription: (input) => `Loading the skill ${input.skill ?? ''}`,
    renderToolUseMessage: ({ skill, args }): Display => ({
      title: `Skill ${showValue(skill, '…')}`,
      ...(typeof args === 'string' && args !== '' && { subtitle: args }),
      blocks: [],
    }),
    renderToolResultMessage: ({ skill, text }: SkillOutput, _progress, { style }): Display => ({
      title: `Loaded the skill ${skill}`,
      tone: 'success',
      blocks: style === 'condensed' ? [] : [{ kind: 'text', text: cutText(text, limits.previewChars) }],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Did not load the skill', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not load the skill', message),
  });
}

/** The skills of files, and how those of servers are found. */
function skillBook({ skills = [], mcp }: MoreToolServices) {
  const usable = skills.filter(({ isHidden }) => !isHidden);
  const find = (name: string) => usable.find((skill) => skill.name === bareName(name));
  return {
    usable,
    // Without those of servers: what servers offer may not change the description of a built-in tool.
    words: [PROMPT, ...listed(usable)].join('\n'),
    hasServers: mcp?.states().some(({ state }) => state !== 'disabled') === true,
    find,
    isPrompt: (name: string) => bareName(name).startsWith('mcp__') && !find(name),
    findPrompt: (name: string, caller: PromptCaller) =>
      find(name) ? undefined : findPrompt(mcp, bareName(name), caller),
    promptSkills: (caller: PromptCaller) => promptSkills(mcp, caller),
  };
}

function validate(
  book: ReturnType<typeof skillBook>,
  { skill, args = '' }: SkillArguments,
  { principal, rootSessionId, session: { permissions } }: ToolUseContext,
): ValidationResult {
  if (book.find(skill)) return { result: true };
  const caller = { principal, permissions, rootSessionId };
  const prompt = book.findPrompt(skill, caller);
  if (prompt) {
    const message = promptProblem(prompt, args, caller);
    return message === undefined ? { result: true } : { result: false, message };
  }
  const names = [...book.usable, ...book.promptSkills(caller)].map(({ name }) => name);
  const nearest = nearestKey(skill, names);
  const known = names.length === 0 ? 'There is none now' : `There are ${names.slice(0, 50).join(', ')}`;
  const advice = nearest === undefined ? known : `Did you mean "${nearest}"?`;
  return { result: false, message: `There is no skill "${skill}". ${advice}` };
}

/** The instructions. */
export interface SkillOutput {
  readonly skill: string;
  readonly text: string;
  /** Blocks in place of the text, where they are more than that. */
  readonly blocks?: readonly ResultContentBlock[];
}

/** Models write the name as people type it, too. */
function bareName(name: string): string {
  return name.replace(/^\//, '');
}

function listed(skills: readonly Skill[]): readonly string[] {
  const lines: string[] = [];
  let room = MAX_LISTED_CHARS;
  for (const skill of skills) {
    const line = `- ${cutText(skillLine(skill), MAX_LINE_CHARS)}`;
    room -= line.length + 1;
    if (room < 0) return [...lines, `and ${skills.length - lines.length} more`];
    lines.push(line);
  }
  return lines;
}

/** Specs are names; `prefix:*` is every name that begins so. */
function skillMatcher(name: string): PermissionMatcher {
  const matches = (spec: string) => (spec.endsWith(':*') ? name.startsWith(spec.slice(0, -2)) : spec === name);
  return {
    hits: (specs) => specs.find(matches),
    covers(specs) {
      const spec = specs.find(matches);
      return spec === undefined ? undefined : [spec];
    },
  };
}

async function loadSkill(
  skill: Skill | undefined,
  { args = '' }: SkillArguments,
  { sessionId, rootSessionId }: ToolUseContext,
): Promise<ToolResult<SkillOutput>> {
  if (!skill) throw new GauntletError('tool_failed', 'The skill is not there any more');
  const words = await wordsOf(skill);
  const base = `Skill "${skill.name}". Its files are in ${skill.folder}; paths in it that are not absolute start there.`;
  const data = { skill: skill.name, text: `${base}\n\n${withArguments(words, args)}` };
  // A child session can be given no rule that its parent does not have.
  return sessionId === rootSessionId ? { data, contextModifier: addSkillRules(skill) } : { data };
}

/** Get a prompt of a server. What it says brings no rules, and ends those of the last skill. */
async function loadMcpSkill(
  mcp: PromptServers,
  prompt: McpPrompt,
  { args = '' }: SkillArguments,
  context: ToolUseContext,
): Promise<ToolResult<SkillOutput>> {
  const blocks = await loadPrompt(mcp, prompt, args, context);
  const text = resultText(blocks);
  const isText = blocks.every(({ type }) => type === 'text');
  const data = { skill: prompt.name, text, ...(!isText && { blocks }) };
  const isRoot = context.sessionId === context.rootSessionId;
  return isRoot ? { data, contextModifier: withCommandRules({ allow: [], ask: [], deny: [] }) } : { data };
}

async function wordsOf(skill: Skill): Promise<string> {
  try {
    return (await readSkillWords(skill)).trim();
  } catch (cause) {
    const message = `Cannot load the skill "${skill.name}": ${errorMessage(cause)}. Go on without it, and say so`;
    throw new GauntletError('tool_failed', message, { cause });
  }
}

/** `$ARGUMENTS` is all of them, `$1` to `$9` are their words; where neither stands, they come last. */
function withArguments(words: string, args: string): string {
  const parts = args.split(/\s+/).filter((part) => part !== '');
  let isUsed = false;
  const filled = words.replace(/\$(ARGUMENTS\b|[1-9](?!\d))/g, (_match, what: string) => {
    isUsed = true;
    return what === 'ARGUMENTS' ? args : (parts[Number(what) - 1] ?? '');
  });
  return isUsed || args === '' ? filled : `${filled}\n\nArguments: ${args}`;
}

/** The rules of the skill, and that its own files may be read: they take the place of those of the last one. */
function addSkillRules({ allowedTools, folder }: Skill): ContextModifier {
  const files = `Read(/${folder.replace(/[\\*?[\]!# ]/g, '\\$&')}/**)`;
  return withCommandRules({ allow: [...allowedTools, files], ask: [], deny: [] });
}

function withCommandRules(command: RuleSet): ContextModifier {
  return (context) => {
    const { permissions } = context;
    return { ...context, permissions: { ...permissions, rules: { ...permissions.rules, command } } };
  };
}
