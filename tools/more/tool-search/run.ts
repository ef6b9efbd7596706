/** The work of ToolSearch: which tools are meant, and their whole definitions. */
import type { PromptOptions, Tool, ToolUseContext } from '../../../src/tool/tool.ts';
import { describeTool, type ToolDefinition } from '../../../src/pool/describe.ts';
import { searchTools } from '../../../src/pool/search.ts';
import type { ToolSearchArguments } from './schema.ts';

/** What was found. */
export interface ToolSearchOutput {
  readonly query: string;
  readonly found: readonly { readonly definition: ToolDefinition; readonly isDeferred: boolean }[];
  /** Names that were selected and that no tool has. */
  readonly unknownNames: readonly string[];
  /** Deferred tools in the list. */
  readonly deferredCount: number;
}

/** Search the tools the session sees. Words find deferred tools; `select:` names any. */
export function searchDeferred(
  { query, max_results: maxResults }: ToolSearchArguments,
  { tools, isDeferred, session, principal }: Pick<ToolUseContext, 'tools' | 'isDeferred' | 'session' | 'principal'>,
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
    deferredCount: tools.filter(isDeferred).length,
  };
}
