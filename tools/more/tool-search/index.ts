/** ToolSearch: gives the schemas of deferred tools. */
import { buildTool } from '../../../src/tool/build-tool.ts';
import type { MoreToolServices } from '../services.ts';
import { TOOL_SEARCH_PROMPT } from './prompt.ts';
import { renderToolSearch, renderToolSearchFailure, renderToolSearchResult, toolSearchResult } from './render.ts';
import { searchDeferred, type ToolSearchOutput } from './run.ts';
import { toolSearchInput } from './schema.ts';

/** Make ToolSearch. */
export function toolSearchTool(services: MoreToolServices) {
  return buildTool({
    name: 'ToolSearch',
    searchHint: 'find and load tools that are deferred',
    alwaysLoad: true,
    touchesOnlySession: () => true,
    inputSchema: toolSearchInput(services.limits),
    maxResultSizeChars: 100_000,
    isEnabled: () => services.toolSearch !== 'off',
    disabledReason: () => 'the setting "toolSearch" is "off", so no tool is deferred',
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    prompt: () => TOOL_SEARCH_PROMPT,
    description: (input) => `Search tools: ${input.query}`,
    call: (input, context) => Promise.resolve({ data: searchDeferred(input, context) }),
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
