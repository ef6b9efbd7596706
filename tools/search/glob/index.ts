/** Glob: finds files by name pattern. */
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import { shownAbsolute } from '../../../src/files/spelling.ts';
import { buildTool } from '../../../src/tool/build-tool.ts';
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display } from '../../../src/wire/display.ts';
import type { SearchToolServices } from '../services.ts';
import { type GlobOutput, globPaths, MAX_NAMES, MAX_RESULTS, runGlob, validateGlob } from './run.ts';
import { type GlobArguments, GlobInput } from './schema.ts';

/** The words. */
function globPrompt(): string {
  return `Finds files by name pattern, in code bases of any size.

- Patterns such as "**/*.js" or "src/**/*.{ts,tsx}": \`*\` and \`?\` stay within one name, \`**\` crosses folders, \`[a-z]\` and \`{a,b}\` work as usual. "*.ts" finds files in the folder itself only; use "**/*.ts" for all below.
- Answers with paths, the most recently changed first: ${MAX_RESULTS} of them, then how many more there are.
- Files that .gitignore names and .git itself are left out; other hidden files are not. Links are not followed.
- To find files by their content, use Grep.
- Several searches that may be useful can be made at once, in one message: the calls run side by side.`;
}

/** Create Glob. */
export function globTool(services: SearchToolServices, maxNames = MAX_NAMES) {
  return buildTool({
    name: 'Glob',
    searchHint: 'find files by name pattern',
    alwaysLoad: true,
    inputSchema: GlobInput,
    maxResultSizeChars: 100_000,
    prompt: () => globPrompt(),
    description: (input) => `Find files ${input.pattern}`,
    validateInput: (input) => validateGlob(input),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    paths: (input) => globPaths(input),
    backfillObservableInput: shownAbsolute('path'),
    toAutoClassifierInput: (input) => `${input.pattern} in ${input.path ?? '.'}`,
    isSearchOrReadCommand: () => ({ isSearch: true, isRead: false }),
    interruptBehavior: () => 'cancel',
    call: (input, context) => runGlob(services, input, context, maxNames),
    mapToolResultToToolResultBlockParam: globResult,
    isResultTruncated: (output: GlobOutput) => output.isIncomplete || output.total > output.paths.length,
    getToolUseSummary: (input) => input.pattern ?? '',
    getActivityDescription: (input) => `Finding ${input.pattern ?? 'files'}`,
    renderToolUseMessage: renderGlob,
    renderToolResultMessage: (output: GlobOutput, _progress, { style }) => renderGlobResult(output, style),
    renderToolUseRejectedMessage: renderGlobRejected,
    renderToolUseErrorMessage: renderGlobError,
  });
}

/** Return a hint for a pattern with unsupported syntax; undefined if its syntax is supported. */
export function emptyHint(pattern: string): string | undefined {
  if (/[@?*+!]\(/.test(pattern)) return 'Extended globs such as "@(a|b)" are not known here: write "{a,b}"';
  if (pattern.startsWith('!')) return '"!" excludes nothing here: say which files to find';
  return undefined;
}

/** Display the request; the input may still be streaming in. */
function renderGlob(input: Partial<GlobArguments>): Display {
  return {
    title: `Find files ${showValue(input.pattern, '…')}`,
    ...(typeof input.path === 'string' ? { subtitle: `in ${showText(input.path)}` } : {}),
    blocks: [],
    group: { key: 'glob', title: 'Find files' },
  };
}

/** Display the result. */
function renderGlobResult(output: GlobOutput, style: 'condensed' | undefined): Display {
  const title = `Found ${output.total} ${output.total === 1 ? 'file' : 'files'}`;
  const blocks = style === 'condensed' ? [] : [{ kind: 'list' as const, items: output.paths.map(showText) }];
  return { title, ...(output.isIncomplete ? { subtitle: 'search not complete' } : {}), blocks };
}

/** Display a call that was denied. */
function renderGlobRejected(input: Partial<GlobArguments>, message: string): Display {
  return {
    title: `Did not look for ${showValue(input.pattern, 'files')}`,
    tone: 'warning',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** Display a call that failed. */
function renderGlobError(message: string, input: Partial<GlobArguments>): Display {
  return {
    title: `Could not look for ${showValue(input.pattern, 'files')}`,
    tone: 'danger',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** Format the result for the model. */
function globResult(output: GlobOutput, toolUseId: string): ToolResultBlock {
  const lines = output.paths.length === 0 ? ['No files found'] : output.paths.map(showText);
  const hint = output.total === 0 ? emptyHint(output.pattern) : undefined;
  if (hint !== undefined) lines.push(`(${hint})`);
  const more = output.total - output.paths.length;
  if (more > 0) lines.push(`(PARTIAL: ${more} more files match. Use a narrower pattern or path)`);
  if (output.isIncomplete)
    lines.push('(PARTIAL: the search was given up before its end. Use a narrower pattern or path)');
  return { type: 'tool_result', tool_use_id: toolUseId, content: lines.join('\n') };
}
