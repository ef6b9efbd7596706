/** Asks one server, or all that are connected, for their resources. */
import { errorMessage } from '../../../src/base/errors.ts';
import type { McpResource } from '../../../src/mcp/resources.ts';
import type { McpToolServices } from '../services.ts';

/** What servers have, and which of them could not say. */
export interface ListOutput {
  readonly resources: readonly (McpResource & { readonly server: string })[];
  /** One sentence a server that failed. */
  readonly failures: readonly string[];
}

/**
 * List resources.
 *
 * @param server One server, which must answer; absent: all that are connected.
 * @throws {GauntletError} When the one server that was named failed, or the call was cancelled.
 */
export async function runList(
  mcp: McpToolServices['mcp'],
  server: string | undefined,
  signal: AbortSignal,
): Promise<ListOutput> {
  const list = async (name: string) => {
    const resources = await mcp.listResources(name, signal);
    return resources.map((resource) => ({ server: name, ...resource }));
  };
  if (server !== undefined) return { resources: await list(server), failures: [] };

  const connected = mcp.states().filter(({ state }) => state === 'connected');
  const answers = await Promise.allSettled(connected.map(({ name }) => list(name)));
  const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  if (signal.aborted) throw failed[0];
  return {
    resources: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
    failures: failed.map(errorMessage),
  };
}

/** The list as the model reads it: one JSON object a line, then what failed. */
export function listedText({ resources, failures }: ListOutput): string {
  const lines = [...resources.map((resource) => JSON.stringify(resource)), ...failures];
  return lines.length === 0 ? 'No connected MCP server offers resources' : lines.join('\n');
}
