/**
 * Finding a tool by what it does: the search behind ToolSearch.
 *
 * `select:A,B` names tools, `+word` must match, other words count. A word in a name weighs more than
 * one in the search hint, and that more than one in the description.
 */
import type { Tool } from '../tool/tool.ts';

/** What is searched. */
export interface SearchSpace {
  /** Tools that `select:` may name; aliases are known. */
  readonly tools: readonly Tool[];
  /** Whether words may find it: tools whose schema the model has need no finding. */
  isCandidate(tool: Tool): boolean;
  /** The words of a tool's description. */
  describe(tool: Tool): string;
}

const NAME_PART_SCORE = 10;
const NAME_SCORE = 5;
const HINT_SCORE = 4;
const DESCRIPTION_SCORE = 2;

/** What a query comes to. */
export interface SearchFindings {
  readonly found: readonly Tool[];
  /** Names that `select:` gave and no tool has. */
  readonly unknownNames: readonly string[];
}

/** Find tools, the best first; equal ones in list order. `select:` gives all that it names. */
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

/** `mcp__git_hub__listPulls` → mcp, git, hub, list, pulls, and the whole name. */
function nameParts(name: string): readonly string[] {
  const spaced = name.replace(/([a-z0-9])([A-Z])/gu, '$1 $2').toLowerCase();
  return [name.toLowerCase(), ...spaced.split(/[\s_-]+/u)];
}
