/** ToolSearch: returns the schemas of deferred tools. */
import * as z from 'zod';
import { describeTool } from '../../src/pool/describe.ts';
import type { ToolDefinition } from '../../src/wire/server-replies.ts';
import { searchTools } from '../../src/pool/search.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { PromptOptions, Tool, ToolUseContext } from '../../src/tool/tool.ts';
import type { ToolResultBlock } from '../../src/wire/blocks.ts';
import type { Display } from '../../src/wire/display.ts';
import type { MoreToolServices } from './services.ts';
import { promptSkills } from './mcp-skills.ts';
import { type ListedSkill, skillLine } from './skill-catalogue.ts';

/** The description. */
const TOOL_SEARCH_PROMPT = `Loads the full definitions of deferred tools, so that you know how to call them.

Deferred tools are listed with a name and a short description but without their parameters. Load a tool before you call it for the first time; what this returns stays valid for the rest of the conversation.

Queries:
- "select:TaskOutput,TaskStop" loads exactly these tools by name
- "background output" finds tools by words, the best matches first
- "+slack send" finds only tools that match "slack", ordered by the other words

Each match comes back as one line of JSON with name, description and input_schema, inside a <functions> block, or as a reference that puts its definition in your list of tools.`;

const DEFAULT_RESULTS = 5;

/** Tools found by words; a model that wants more of them has not said what it wants. */
const MAX_RESULTS = 50;

const MAX_QUERY_CHARS = 10_000;

const ToolSearchInput = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(MAX_QUERY_CHARS)
    .describe('"select:NameA,NameB" to load tools by name, or words to search for; "+word" must match'),
  max_results: z
    .int()
    .min(1)
    .max(MAX_RESULTS)
    .default(DEFAULT_RESULTS)
    .describe(`Most tools to find by words (default ${DEFAULT_RESULTS})`),
});

/** A parsed input. */
export type ToolSearchArguments = z.output<typeof ToolSearchInput>;

/** Create ToolSearch. */
export function toolSearchTool(services: MoreToolServices) {
  return buildTool({
    name: 'ToolSearch',
    searchHint: 'find and load tools that are deferred',
    alwaysLoad: true,
    touchesOnlySession: () => true,
    inputSchema: ToolSearchInput,
    maxResultSizeChars: 100_000,
    isEnabled: () => services.toolSearch !== 'off',
    disabledReason: () => 'the setting "toolSearch" is "off": set it to "auto" or "always" to defer tools',
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    prompt: () => TOOL_SEARCH_PROMPT,
    description: (input) => `Search tools: ${input.query}`,
    call: (input, context) => {
      const data = searchDeferred(input, context, skillsFor(services, context));
      const beside = data.asReferences ? besideReferences(data) : '';
      return Promise.resolve({ data, ...(beside !== '' && { newMessages: [{ role: 'user', content: beside }] }) });
    },
    mapToolResultToToolResultBlockParam: toolSearchResult,
    isSearchOrReadCommand: () => ({ isSearch: true, isRead: false }),
    getToolUseSummary: (input) => input.query ?? '',
    getActivityDescription: () => 'Searching tools',
    renderToolUseMessage: renderToolSearch,
    renderToolResultMessage: (output: ToolSearchOutput, _progress, { style }) => renderToolSearchResult(output, style),
    renderToolUseRejectedMessage: (_input, message) => renderToolSearchFailure('Did not search tools', message),
    renderToolUseErrorMessage: (message) => renderToolSearchFailure('Could not search tools', message),
    renderGroupedToolUse: () => ({ key: 'tool-search', title: 'Search tools' }),
  });
}

/** Result of a search. */
export interface ToolSearchOutput {
  readonly query: string;
  readonly found: readonly { readonly definition: ToolDefinition; readonly isDeferred: boolean }[];
  /** Selected names that no tool has. */
  readonly unknownNames: readonly string[];
  /** Skills that the words match, one line each. */
  readonly skills: readonly string[];
  /** Deferred tools in the list. */
  readonly deferredCount: number;
  /** True if the result for the model refers to the deferred tools, whose definitions its list has. */
  readonly asReferences: boolean;
}

type SearchContext = Pick<
  ToolUseContext,
  'tools' | 'isDeferred' | 'toolSearch' | 'session' | 'principal' | 'rootSessionId'
>;

/** Skills that a model may load: those of files, then prompts of servers. */
function skillsFor({ skills = [], mcp }: MoreToolServices, { principal, rootSessionId, session }: SearchContext) {
  const prompts = promptSkills(mcp, { principal, permissions: session.permissions, rootSessionId });
  return [...skills.filter(({ isHidden }) => !isHidden), ...prompts];
}

/** Search the tools of the session. Words find deferred tools; `select:` returns any. */
function searchDeferred(
  { query, max_results: maxResults }: ToolSearchArguments,
  { tools, isDeferred, toolSearch, session, principal }: SearchContext,
  skills: readonly ListedSkill[],
): ToolSearchOutput {
  const options: PromptOptions = {
    principal,
    cwd: session.cwd,
    permissions: session.permissions,
    toolNames: tools.filter((tool) => tool.origin === undefined).map((tool) => tool.name),
  };
  const space = { tools, isCandidate: isDeferred, describe: (tool: Tool) => tool.prompt(options) };
  const { found, unknownNames } = searchTools(query, space, maxResults);
  return {
    query,
    found: found.map((tool) => ({ definition: describeTool(tool, options), isDeferred: isDeferred(tool) })),
    unknownNames,
    skills: searchSkills(query, skills, maxResults),
    deferredCount: tools.filter(isDeferred).length,
    asReferences: toolSearch === 'references' && found.some(isDeferred),
  };
}

/** Skills that hold each word of a query in their name or description, those that hold it in the name first. */
function searchSkills(query: string, skills: readonly ListedSkill[], maxResults: number): readonly string[] {
  if (/^\s*select:/i.test(query)) return [];
  const words = query.toLowerCase().match(/[^\s,+]+/g) ?? [];
  const holds = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  return skills
    .filter((skill) => words.length > 0 && holds(skillLine(skill)))
    .sort((left, right) => Number(holds(right.name)) - Number(holds(left.name)))
    .slice(0, maxResults)
    .map(skillLine);
}

/** Result for the model: definitions as text, or references alone, since the Messages API takes no result with both. */
function toolSearchResult(
  { query, found, unknownNames, skills, deferredCount, asReferences }: ToolSearchOutput,
  toolUseId: string,
): ToolResultBlock {
  const block = { type: 'tool_result', tool_use_id: toolUseId } as const;
  if (asReferences) {
    const references = found.filter(({ isDeferred }) => isDeferred);
    return {
      ...block,
      content: references.map(({ definition }) => ({ type: 'tool_reference', tool_name: definition.name })),
    };
  }
  if (found.length === 0 && skills.length > 0) return { ...block, content: skillLines(skills).join('\n') };
  if (found.length === 0) {
    const advice =
      deferredCount === 0
        ? 'None is deferred: call those in the list of tools as they stand there'
        : `${deferredCount} are deferred. Try other words, or "select:" with a name from the list of tools`;
    return { ...block, content: `No tool matches "${query}". ${advice}` };
  }
  const lines = found.map(({ definition }) => `<function>${JSON.stringify(definition)}</function>`);
  return {
    ...block,
    content: ['<functions>', ...lines, '</functions>', ...unknownLines(unknownNames), ...skillLines(skills)].join('\n'),
  };
}

/** Return what a result of references cannot say; empty if there is nothing. */
function besideReferences({ unknownNames, skills }: ToolSearchOutput): string {
  return [...unknownLines(unknownNames), ...skillLines(skills)].join('\n');
}

function unknownLines(names: readonly string[]): readonly string[] {
  return names.map((name) => `No tool is named "${name}"`);
}

function skillLines(skills: readonly string[]): readonly string[] {
  return skills.length === 0 ? [] : ['Skills, to load with Skill:', ...skills.map((line) => `- ${line}`)];
}

/** Display the request. */
function renderToolSearch({ query }: Partial<ToolSearchArguments>): Display {
  return { title: 'Search tools', subtitle: typeof query === 'string' ? query : '…', blocks: [] };
}

/** Display the result. */
function renderToolSearchResult({ query, found }: ToolSearchOutput, style: 'condensed' | undefined): Display {
  const names = found.map(({ definition }) => definition.name);
  return {
    title: found.length === 1 ? 'Found 1 tool' : `Found ${found.length} tools`,
    subtitle: query,
    tone: found.length === 0 ? 'warning' : 'success',
    blocks: style === 'condensed' || names.length === 0 ? [] : [{ kind: 'list', items: names }],
  };
}

/** Display a call that was denied or failed. */
function renderToolSearchFailure(title: string, message: string): Display {
  return { title, tone: 'danger', blocks: [{ kind: 'text', text: message }] };
}
