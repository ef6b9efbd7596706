/**
 * Asks a server for its tools, page by page, and judges each by itself: the SDK's own listing throws
 * all of them away when one is malformed.
 */
import type { Client } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import { judgeTool, type DefinitionLimits, type McpToolDefinition } from './tool-definition.ts';
import { visibleLine } from './visible-text.ts';

const ToolsPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional().catch(undefined) });

/** Refused tools that a notice names before the rest is only counted. */
const NAMED_REFUSALS = 5;

/** Longest name and longest reason in a notice. */
const NAMED_CHARS = 100;

/** What a server offers. */
export interface ToolListing {
  /** Unique by name, in the server's order. */
  readonly definitions: readonly McpToolDefinition[];
  /** What was left out and why, one sentence each; for people. */
  readonly remarks: readonly string[];
}

/** What a listing is bounded by. */
export type ListLimits = DefinitionLimits & Pick<Limits, 'mcpListPages' | 'mcpServerTools' | 'mcpConnectMs'>;

/**
 * List the tools of a connected server; none when it offers no tools.
 *
 * @throws Whatever the SDK threw for a page that failed as a whole.
 */
export async function listTools(client: Client, limits: ListLimits, signal: AbortSignal): Promise<ToolListing> {
  if (client.getServerCapabilities()?.tools === undefined) return { definitions: [], remarks: [] };
  const definitions = new Map<string, McpToolDefinition>();
  const refusals: string[] = [];
  const remarks: string[] = [];

  for await (const sent of sentTools(client, limits, signal, (remark) => remarks.push(remark))) {
    const judged = judgeTool(sent, limits);
    if ('refusal' in judged) refusals.push(`"${judged.name}" (${judged.refusal})`);
    else if (definitions.has(judged.definition.name)) refusals.push(`"${judged.definition.name}" (sent twice)`);
    else definitions.set(judged.definition.name, judged.definition);
  }

  return { definitions: [...definitions.values()], remarks: [...remarks, ...wordRefusals(refusals)] };
}

/** Every entry of every page, up to the limits. */
async function* sentTools(client: Client, limits: ListLimits, signal: AbortSignal, remark: (text: string) => void) {
  let cursor: string | undefined;
  let count = 0;
  for (let page = 0; page < limits.mcpListPages; page++) {
    const request = { method: 'tools/list', ...(cursor === undefined ? {} : { params: { cursor } }) };
    const { tools, nextCursor } = await client.request(request, ToolsPage, { signal, timeout: limits.mcpConnectMs });
    for (const sent of tools) {
      if (count++ === limits.mcpServerTools) return remark(`Only its first ${limits.mcpServerTools} tools are listed`);
      yield sent;
    }
    if (nextCursor === undefined || nextCursor === cursor) return;
    cursor = nextCursor;
  }
  remark(`Only the first ${limits.mcpListPages} pages of its tools are listed`);
}

function wordRefusals(refusals: readonly string[]): readonly string[] {
  if (refusals.length === 0) return [];
  const named = refusals.slice(0, NAMED_REFUSALS).map((refusal) => visibleLine(refusal, 2 * NAMED_CHARS));
  const more = refusals.length > NAMED_REFUSALS ? ` and ${refusals.length - NAMED_REFUSALS} more` : '';
  return [`Left out: ${named.join(', ')}${more}`];
}
