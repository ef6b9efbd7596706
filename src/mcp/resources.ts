/**
 * Requests a server's list of resources, and the content of one.
 */
import type { Client } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import { GauntletError } from '../base/errors.ts';
import { toOutput, type McpOutput } from './call-result.ts';
import { MAX_LIST_PAGES } from './list-tools.ts';
import { visibleLine } from './visible-text.ts';

/** Resources listed of one server. */
const MAX_RESOURCES = 1_000;

/** Longest name or description of a resource, in characters. Its URI is never cut, since it is used as an address. */
const LABEL_CHARS = 500;

const label = z
  .string()
  .transform((text) => visibleLine(text, LABEL_CHARS))
  .optional()
  .catch(undefined);

const Resource = z.object({
  uri: z.string().max(8_000),
  name: label,
  title: label,
  description: label,
  mimeType: label,
});

const ResourcesPage = z.looseObject({
  resources: z.array(z.unknown()),
  nextCursor: z.string().optional().catch(undefined),
});

const ResourceContents = z.looseObject({
  contents: z.array(
    z.object({
      uri: z.string(),
      mimeType: z.string().optional().catch(undefined),
      text: z.string().optional(),
      blob: z.string().optional(),
    }),
  ),
});

/** A resource as its server lists it, with hidden characters made visible. */
export type McpResource = z.output<typeof Resource>;

/** Limits of listing and reading resources. */
export type ResourceLimits = Pick<Limits, 'mcpCallIdleMs' | 'resultChars'>;

/** List a server's resources, up to the bounds; malformed entries are left out. */
export async function listResources(
  client: Client,
  limits: ResourceLimits,
  signal: AbortSignal,
): Promise<readonly McpResource[]> {
  if (client.getServerCapabilities()?.resources === undefined) return [];
  const resources: McpResource[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_LIST_PAGES && resources.length < MAX_RESOURCES; page++) {
    const request = { method: 'resources/list', ...(cursor === undefined ? {} : { params: { cursor } }) };
    const listed = await client.request(request, ResourcesPage, { signal, timeout: limits.mcpCallIdleMs });
    for (const sent of listed.resources) {
      const resource = Resource.safeParse(sent);
      if (resource.success) resources.push(resource.data);
    }
    if (listed.nextCursor === undefined || listed.nextCursor === cursor) break;
    cursor = listed.nextCursor;
  }
  return resources.slice(0, MAX_RESOURCES);
}

/** Read one resource. @throws {GauntletError} `tool_failed` if it has no content. */
export async function readResource(
  client: Client,
  uri: string,
  limits: ResourceLimits,
  signal: AbortSignal,
): Promise<McpOutput> {
  const request = { method: 'resources/read', params: { uri } };
  const { contents } = await client.request(request, ResourceContents, { signal, timeout: limits.mcpCallIdleMs });
  if (contents.length === 0)
    throw new GauntletError('tool_failed', `The resource "${visibleLine(uri, LABEL_CHARS)}" is empty`);
  const resources = contents.map(({ text, blob = '', ...about }) =>
    text === undefined ? { ...about, blob } : { ...about, text },
  );
  return toOutput({ content: resources.map((resource) => ({ type: 'resource', resource })) }, limits);
}
