/**
 * Requests a server's tools, page by page, and validates each separately: the SDK's own listing discards all of them
 * when one is malformed.
 */
import type { Client } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import { parseToolDefinition, type McpToolDefinition } from './tool-definition.ts';
import { visibleLine } from './visible-text.ts';

const ToolsPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional().catch(undefined) });

/** Rejected tools that a notice names; the rest is only counted. */
const MAX_NAMED_REFUSALS = 5;

/** Longest name and longest reason in a notice, in characters. */
const MAX_NAME_CHARS = 100;

/** Result of listing a server's tools. */
export interface ToolListing {
  /** Unique by name, in the server's order. */
  readonly definitions: readonly McpToolDefinition[];
  /** Sentences on what was left out and why, for people. */
  readonly remarks: readonly string[];
}

/** Pages of one listing, of tools or of resources: a server that always names a next page ends here. */
export const MAX_LIST_PAGES = 100;

/** Tools taken from one server, named in a notice where there are more: no model chooses among so many. */
export const MAX_SERVER_TOOLS = 2_000;

/** Limits of a listing. */
export type ListLimits = Pick<Limits, 'mcpConnectMs'>;

/**
 * List the tools of a connected server; empty if it has no tools capability.
 *
 * @throws The SDK's error for a page that failed as a whole.
 */
export async function listTools(client: Client, limits: ListLimits, signal: AbortSignal): Promise<ToolListing> {
  if (client.getServerCapabilities()?.tools === undefined) return { definitions: [], remarks: [] };
  const definitions = new Map<string, McpToolDefinition>();
  const refusals: string[] = [];
  const remarks: string[] = [];

  for await (const sent of sentTools(client, limits, signal, (remark) => remarks.push(remark))) {
    const parsed = parseToolDefinition(sent);
    if ('refusal' in parsed) refusals.push(`"${parsed.name}" (${parsed.refusal})`);
    else if (definitions.has(parsed.definition.name)) refusals.push(`"${parsed.definition.name}" (sent twice)`);
    else definitions.set(parsed.definition.name, parsed.definition);
  }

  return { definitions: [...definitions.values()], remarks: [...remarks, ...describeRefusals(refusals)] };
}

/** Yield the entries of all pages, up to the bounds. */
async function* sentTools(client: Client, limits: ListLimits, signal: AbortSignal, remark: (text: string) => void) {
  let cursor: string | undefined;
  let count = 0;
  for (let page = 0; page < MAX_LIST_PAGES; page++) {
    const request = { method: 'tools/list', ...(cursor === undefined ? {} : { params: { cursor } }) };
    const { tools, nextCursor } = await client.request(request, ToolsPage, { signal, timeout: limits.mcpConnectMs });
    for (const sent of tools) {
      if (count++ === MAX_SERVER_TOOLS) return remark(`Only its first ${MAX_SERVER_TOOLS} tools are listed`);
      yield sent;
    }
    if (nextCursor === undefined || nextCursor === cursor) return;
    cursor = nextCursor;
  }
  remark(`Only the first ${MAX_LIST_PAGES} pages of its tools are listed`);
}

function describeRefusals(refusals: readonly string[]): readonly string[] {
  if (refusals.length === 0) return [];
  const named = refusals.slice(0, MAX_NAMED_REFUSALS).map((refusal) => visibleLine(refusal, 2 * MAX_NAME_CHARS));
  const more = refusals.length > MAX_NAMED_REFUSALS ? ` and ${refusals.length - MAX_NAMED_REFUSALS} more` : '';
  return [`Left out: ${named.join(', ')}${more}`];
}
