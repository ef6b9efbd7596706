/** ListMcpResourcesTool: lists the resources of MCP servers. */
import * as z from 'zod';
import { errorMessage } from '../../src/base/errors.ts';
import type { McpResource, McpResourceTemplate } from '../../src/mcp/resources.ts';
import { serverHidingRule } from '../../src/permissions/rule-index.ts';
import { TOOL_ALIASES } from '../../src/permissions/rule-names.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { ToolUseContext } from '../../src/tool/tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { checkVisible, type McpToolServices } from './services.ts';

/** Upper bound of the rows displayed; the result contains the whole list. */
const SHOWN_RESOURCES = 100;

/** Time in which a server lists its templates; the resources do not wait for longer. */
const TEMPLATES_MS = 5_000;

const ListMcpResourcesInput = z.strictObject({
  server: z.string().min(1).optional().describe('Only the resources of this server. Defaults to all servers'),
});

const PROMPT = `Lists the resources that MCP servers offer: files, records and pages that can be read.

- Each has a \`server\` and a \`uri\`: what ReadMcpResourceTool takes. Behind them come templates, with a \`uriTemplate\` to fill in.
- Without \`server\`, the resources of every connected server are listed; one that fails is named and hides nothing else.`;

/** Create ListMcpResourcesTool. */
export function listMcpResourcesTool(services: McpToolServices) {
  return buildTool({
    name: 'ListMcpResourcesTool',
    aliases: TOOL_ALIASES.ListMcpResourcesTool,
    searchHint: 'list resources of MCP servers',
    shouldDefer: true,
    inputSchema: ListMcpResourcesInput,
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: ({ server }) => `List the resources of ${server ?? 'all MCP servers'}`,
    validateInput: ({ server }, context) => checkVisible(server, context),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    interruptBehavior: () => 'cancel',
    call: async (input, context) => ({ data: await runList(services.mcp, input.server, context) }),
    mapToolResultToToolResultBlockParam: (output: ListOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: listedText(output),
    }),
    getActivityDescription: () => 'Listing MCP resources',
    renderToolUseMessage: renderList,
    renderToolResultMessage: (output: ListOutput, _progress, { style }) => renderListResult(output, style),
    renderToolUseRejectedMessage: (input, message) => renderListError(message, input, 'warning'),
    renderToolUseErrorMessage: (message, input) => renderListError(message, input, 'danger'),
  });
}

/** Resources, and servers that failed to list theirs. */
export interface ListOutput {
  readonly resources: readonly (McpResource & { readonly server: string })[];
  readonly templates: readonly (McpResourceTemplate & { readonly server: string })[];
  /** One sentence per server that failed. */
  readonly failures: readonly string[];
}

/**
 * List resources.
 *
 * @param server A single server, which must answer; absent for all connected ones.
 * @throws {GauntletError} If the named server failed, or the call was cancelled.
 */
async function runList(
  mcp: McpToolServices['mcp'],
  server: string | undefined,
  {
    signal,
    principal,
    rootSessionId,
    session: { permissions },
  }: Pick<ToolUseContext, 'signal' | 'principal' | 'rootSessionId' | 'session'>,
): Promise<ListOutput> {
  const list = async (name: string): Promise<Omit<ListOutput, 'failures'>> => {
    const [resources, templates] = await Promise.all([
      mcp.listResources(name, signal, principal, rootSessionId),
      // Many servers have resources and no templates, and say so by an error, or not at all.
      mcp
        .listTemplates(name, AbortSignal.any([signal, AbortSignal.timeout(TEMPLATES_MS)]), principal, rootSessionId)
        .catch(() => []),
    ]);
    return {
      resources: resources.map((resource) => ({ server: name, ...resource })),
      templates: templates.map((template) => ({ server: name, ...template })),
    };
  };
  if (server !== undefined) return { ...(await list(server)), failures: [] };

  const connected = mcp
    .states(principal, rootSessionId)
    .filter(({ state, name }) => state === 'connected' && !serverHidingRule(permissions, name));
  const answers = await Promise.allSettled(connected.map(({ name }) => list(name)));
  const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  if (signal.aborted) throw failed[0];
  const lists = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  return {
    resources: lists.flatMap(({ resources }) => resources),
    templates: lists.flatMap(({ templates }) => templates),
    failures: failed.map(errorMessage),
  };
}

/** Format the list for the model: one JSON object per line, then the failures. */
function listedText({ resources, templates, failures }: ListOutput): string {
  const lines = [...[...resources, ...templates].map((entry) => JSON.stringify(entry)), ...failures];
  return lines.length === 0 ? 'No connected MCP server offers resources' : lines.join('\n');
}

/** Display the request. */
function renderList({ server }: { readonly server?: string }): Display {
  return { title: `List resources of ${server ?? 'all MCP servers'}`, blocks: [] };
}

/** Display the result: a table, or only the count if condensed. */
function renderListResult({ resources, templates, failures }: ListOutput, style?: 'condensed'): Display {
  const title = `${resources.length} ${resources.length === 1 ? 'resource' : 'resources'}`;
  const tone = failures.length === 0 ? 'success' : 'warning';
  if (style === 'condensed') return { title, tone, blocks: [] };
  const rows = [...resources, ...templates]
    .slice(0, SHOWN_RESOURCES)
    .map(({ server, title: label, name, ...address }) => [
      server,
      label ?? name ?? '',
      'uri' in address ? address.uri : address.uriTemplate,
    ]);
  return {
    title,
    tone,
    blocks: [
      { kind: 'table', columns: ['server', 'name', 'uri'], rows },
      ...failures.map((text) => ({ kind: 'text' as const, text })),
    ],
  };
}

/** Display a call that was denied or failed. */
function renderListError(message: string, input: { readonly server?: string }, tone: 'warning' | 'danger'): Display {
  return { ...renderList(input), tone, blocks: [{ kind: 'text', text: message }] };
}
