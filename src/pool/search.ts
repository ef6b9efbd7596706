/**
 * Searches tools by function, for ToolSearch.
 *
 * `select:A,B` names tools, `+word` must match, other words affect the score. A word in a name has a higher score than
 * one in the search hint, and that a higher one than the description.
 */
import type { Tool } from '../tool/tool.ts';

/** Tools to search. */
export interface SearchSpace {
  /** Tools that `select:` may name; aliases are accepted. */
  readonly tools: readonly Tool[];
  /** Report whether words may find a tool: those whose schema the model already has are excluded. */
  isCandidate(tool: Tool): boolean;
  /** Return a tool's description for the search. */
  describe(tool: Tool): string;
}

const NAME_PART_SCORE = 10;
const NAME_SCORE = 5;
const HINT_SCORE = 4;
const DESCRIPTION_SCORE = 2;

/** Result of a query. */
export interface SearchFindings {
  readonly found: readonly Tool[];
  /** Names in `select:` that no tool has. */
  readonly unknownNames: readonly string[];
}

/** Find tools, the best first; equal ones in list order. `select:` returns all tools that it names. */
export function searchTools(query: string, space: SearchSpace, maxResults: number): SearchFindings {
  const selection = /^\s*select:(.*)$/isu.exec(query)?.[1];
  if (selection !== undefined) return selected(selection, space.tools);
  return { found: bestMatches(query, space, maxResults), unknownNames: [] };
}

function bestMatches(query: string, space: SearchSpace, maxResults: number): readonly Tool[] {
  const words = query
    .toLowerCase()
    .split(/[\s,]+/u)
    .filter((word) => word !== '' && word !== '+');
  const required = words.filter((word) => word.startsWith('+')).map((word) => word.slice(1));
  const wanted = words.map((word) => word.replace(/^\+/u, ''));
  return space.tools
    .filter((tool) => space.isCandidate(tool))
    .map((tool) => ({ tool, score: scoreOf(tool, wanted, required, space) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score)
    .slice(0, maxResults)
    .map(({ tool }) => tool);
}

function selected(selection: string, tools: readonly Tool[]): SearchFindings {
  const found = new Set<Tool>();
  const unknownNames: string[] = [];
  for (const name of selection.split(',').map((part) => part.trim())) {
    const tool = namedTool(name.toLowerCase(), tools);
    if (tool) found.add(tool);
    else if (name !== '') unknownNames.push(name);
  }
  return { found: [...found], unknownNames };
}

function namedTool(wanted: string, tools: readonly Tool[]): Tool | undefined {
  const isNamed = (name: string) => name.toLowerCase() === wanted;
  return tools.find((tool) => isNamed(tool.name)) ?? tools.find((tool) => tool.aliases?.some(isNamed));
}

function scoreOf(tool: Tool, wanted: readonly string[], required: readonly string[], space: SearchSpace): number {
  const texts = {
    parts: [tool.name, ...(tool.aliases ?? [])].flatMap(nameParts),
    name: tool.name.toLowerCase(),
    hint: tool.searchHint?.toLowerCase() ?? '',
    description: space.describe(tool).toLowerCase(),
  };
  if (required.some((word) => wordScore(word, texts) === 0)) return 0;
  return wanted.reduce((sum, word) => sum + wordScore(word, texts), 0);
}

function wordScore(
  word: string,
  texts: { parts: readonly string[]; name: string; hint: string; description: string },
): number {
  if (texts.parts.includes(word)) return NAME_PART_SCORE;
  if (texts.name.includes(word)) return NAME_SCORE;
  if (texts.hint.includes(word)) return HINT_SCORE;
  return texts.description.includes(word) ? DESCRIPTION_SCORE : 0;
}

/** Split `mcp__git_hub__listPulls` into mcp, git, hub, list, pulls, and the whole name. */
function nameParts(name: string): readonly string[] {
  const spaced = name.replace(/([a-z0-9])([A-Z])/gu, '$1 $2').toLowerCase();
  return [name.toLowerCase(), ...spaced.split(/[\s_-]+/u)];
}
