/**
 * Requests a server's tools and validates each separately.
 */
import type { Client } from '@modelcontextprotocol/client';
import type { Limits } from '../../config/limits.ts';
import { pagedEntries } from './paged-list.ts';
import { parseToolDefinition, type McpToolDefinition } from './tool-definition.ts';
import { visibleLine } from './visible-text.ts';

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

/** Tools taken from one server, named in a notice where there are more: no model chooses among so many. */
export const MAX_SERVER_TOOLS = 2_000;

/** Definitions of one server together, in characters of JSON. */
const MAX_DEFINITIONS_CHARS = 16 * 1_024 * 1_024;

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

  const list = {
    ...{ method: 'tools/list', member: 'tools', maxEntries: MAX_SERVER_TOOLS, pageMs: limits.mcpConnectMs, signal },
    onCut: (remark: string) => void remarks.push(remark),
  };
  let roomChars = MAX_DEFINITIONS_CHARS;
  for await (const sent of pagedEntries(client, list)) {
    const parsed = parseToolDefinition(sent);
    if (!('refusal' in parsed)) roomChars -= parsed.chars;
    if (roomChars < 0) {
      remarks.push(`Only the first ${MAX_DEFINITIONS_CHARS} characters of its tools are listed`);
      break;
    }
    if ('refusal' in parsed) refusals.push(`"${parsed.name}" (${parsed.refusal})`);
    else if (definitions.has(parsed.definition.name)) refusals.push(`"${parsed.definition.name}" (sent twice)`);
    else definitions.set(parsed.definition.name, parsed.definition);
  }

  return { definitions: [...definitions.values()], remarks: [...remarks, ...describeRefusals(refusals)] };
}

/** Describe what was left out of a list, for people. @param refusals A name and a reason each. */
export function describeRefusals(refusals: readonly string[]): readonly string[] {
  if (refusals.length === 0) return [];
  const named = refusals.slice(0, MAX_NAMED_REFUSALS).map((refusal) => visibleLine(refusal, 2 * MAX_NAME_CHARS));
  const more = refusals.length > MAX_NAMED_REFUSALS ? ` and ${refusals.length - MAX_NAMED_REFUSALS} more` : '';
  return [`Left out: ${named.join(', ')}${more}`];
}
