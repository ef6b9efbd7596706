/**
 * Requests a server's list of resources, and the content of one.
 */
import type { Client } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import { GauntletError } from '../base/errors.ts';
import { toOutput, type McpOutput } from './call-result.ts';
import { pagedEntries } from './paged-list.ts';
import { visibleLine } from './visible-text.ts';

/** Resources listed of one server. */
const MAX_RESOURCES = 1_000;

/** Templates listed of one server. */
const MAX_TEMPLATES = 200;

/** Longest address of a resource or a template. */
const MAX_URI_CHARS = 8_000;

/** Text with expressions of RFC 6570 in braces. */
const URI_TEMPLATE = /^(?:[^{}]|\{[+#./;?&]?[\w.%]{1,200}(?::\d{1,4}|\*)?(?:,[\w.%]{1,200}(?::\d{1,4}|\*)?)*\})+$/;

/** Longest name or description of a resource, in characters. Its URI is never cut, since it is used as an address. */
const LABEL_CHARS = 500;

const label = z
  .string()
  .transform((text) => visibleLine(text, LABEL_CHARS))
  .optional()
  .catch(undefined);

const Resource = z.object({
  uri: z.string().max(MAX_URI_CHARS),
  name: label,
  title: label,
  description: label,
  mimeType: label,
});

const Template = Resource.omit({ uri: true }).extend({
  uriTemplate: z.string().max(MAX_URI_CHARS).regex(URI_TEMPLATE),
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

/** A template of addresses as its server lists it, with hidden characters made visible. */
export type McpResourceTemplate = z.output<typeof Template>;

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
  const list = { method: 'resources/list', member: 'resources', maxEntries: MAX_RESOURCES, signal };
  for await (const sent of pagedEntries(client, { ...list, pageMs: limits.mcpCallIdleMs })) {
    const resource = Resource.safeParse(sent);
    if (resource.success) resources.push(resource.data);
  }
  return resources;
}

/** List a server's templates, up to the bounds; malformed entries are left out. */
export async function listTemplates(
  client: Client,
  limits: ResourceLimits,
  signal: AbortSignal,
): Promise<readonly McpResourceTemplate[]> {
  if (client.getServerCapabilities()?.resources === undefined) return [];
  const templates: McpResourceTemplate[] = [];
  const list = { method: 'resources/templates/list', member: 'resourceTemplates', maxEntries: MAX_TEMPLATES, signal };
  for await (const sent of pagedEntries(client, { ...list, pageMs: limits.mcpCallIdleMs })) {
    const template = Template.safeParse(sent);
    if (template.success) templates.push(template.data);
  }
  return templates;
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
