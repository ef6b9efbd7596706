/** Grep: searches file contents. */
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import { shownHead } from '../../../src/files/shown-head.ts';
import { shownAbsolute } from '../../../src/files/spelling.ts';
import { buildTool } from '../../../src/tool/build-tool.ts';
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display } from '../../../src/wire/display.ts';
import type { SearchToolServices } from '../services.ts';
import { GREP_BOUNDS, type GrepBounds, type GrepOutput } from './search.ts';
import { runGrep } from './run.ts';
import { type GrepArguments, GrepInput } from './schema.ts';

/** The words. */
function grepPrompt(): string {
  return `Searches file contents with ripgrep.

- Use this to search; do not run grep or rg with Bash. It knows which files may be read.
- \`pattern\` is a regular expression in ripgrep's syntax ("log.*Error", "function\\s+\\w+"). Literal braces need escaping: \`interface\\{\\}\` finds \`interface{}\` in Go.
- Narrow the files with \`glob\` ("*.js", "**/*.tsx") or \`type\` ("js", "py", "rust"); \`type\` is faster for common kinds.
- \`output_mode\`: "files_with_matches" (default) shows paths only, "content" matching lines (with -A, -B, -C, -n, -o), "count" how often each file matches.
- By default a pattern matches within one line; for patterns that span lines set \`multiline\`.
- The first ${GREP_BOUNDS.results} lines or entries are shown; go on with \`offset\`, or set \`head_limit\` (0 shows all).
- Files that .gitignore names, .git itself and binary files are not searched; other hidden files are.`;
}

/** Create Grep. */
export function grepTool(services: SearchToolServices, bounds: GrepBounds = GREP_BOUNDS) {
  return buildTool({
    name: 'Grep',
    searchHint: 'search file contents by regular expression',
    alwaysLoad: true,
    inputSchema: GrepInput,
    maxResultSizeChars: 20_000,
    prompt: () => grepPrompt(),
    description: (input) => `Search for ${input.pattern}`,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    paths: (input) => [{ path: input.path ?? '.', access: 'read' }],
    backfillObservableInput: shownAbsolute('path'),
    toAutoClassifierInput: (input) => `${input.pattern} in ${input.path ?? '.'}`,
    isSearchOrReadCommand: () => ({ isSearch: true, isRead: false }),
    interruptBehavior: () => 'cancel',
    call: (input, context, _canUseTool, _parentMessage, onProgress) =>
      runGrep(services, input, context, onProgress, bounds),
    mapToolResultToToolResultBlockParam: grepResult,
    isResultTruncated: (output: GrepOutput) => output.isPartial,
    getToolUseSummary: (input) => input.pattern ?? '',
    getActivityDescription: (input) => `Searching for ${input.pattern ?? 'text'}`,
    renderToolUseMessage: renderGrep,
    renderToolResultMessage: (output: GrepOutput, _progress, { style }) =>
      renderGrepResult(output, style, services.limits.previewChars),
    renderToolUseRejectedMessage: renderGrepRejected,
    renderToolUseErrorMessage: renderGrepError,
  });
}

/** Display the request; the input may still be streaming in. */
function renderGrep(input: Partial<GrepArguments>): Display {
  const where = [input.path, input.glob, input.type].filter((part) => typeof part === 'string').map(showText);
  return {
    title: `Search for ${showValue(input.pattern, '…')}`,
    ...(where.length === 0 ? {} : { subtitle: `in ${where.join(', ')}` }),
    blocks: [],
    group: { key: 'grep', title: 'Search files' },
  };
}

/** Display the result. */
function renderGrepResult(output: GrepOutput, style: 'condensed' | undefined, previewChars: number): Display {
  const title = `Found ${counted(output.total ?? output.count, output.mode === 'content' ? 'line' : 'file')}`;
  if (style === 'condensed') return { title, blocks: [] };
  const notices = output.notices.map((text) => ({ kind: 'text' as const, text }));
  return { title, blocks: [{ kind: 'code', text: shownHead(output.text, previewChars) }, ...notices] };
}

/** Display a call that was denied. */
function renderGrepRejected(input: Partial<GrepArguments>, message: string): Display {
  return {
    title: `Did not search for ${showValue(input.pattern, 'anything')}`,
    tone: 'warning',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** Display a call that failed. */
function renderGrepError(message: string, input: Partial<GrepArguments>): Display {
  return {
    title: `Could not search for ${showValue(input.pattern, 'anything')}`,
    tone: 'danger',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** Format the result for the model. */
function grepResult(output: GrepOutput, toolUseId: string): ToolResultBlock {
  const content = [headline(output), output.text, ...output.notices].filter((part) => part !== '').join('\n');
  return { type: 'tool_result', tool_use_id: toolUseId, content };
}

function headline(output: GrepOutput): string {
  const isNothing = (output.total ?? output.count) === 0;
  if (output.mode === 'content') return isNothing ? 'No matches found' : '';
  if (isNothing) return 'No files found';
  return output.mode === 'files_with_matches' ? `Found ${counted(output.total ?? output.count, 'file')}` : '';
}

function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
