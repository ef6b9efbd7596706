/**
 * Reads what a server offers beside tools, over its shared connection: prompts, resources, templates and completions.
 */
import type { Client } from '@modelcontextprotocol/client';
import type { Limits } from '../../config/limits.ts';
import type { ResultContentBlock } from '../wire/blocks.ts';
import type { McpOutput } from './call-result.ts';
import { complete, type Completion, type CompletionRequest } from './completions.ts';
import type { McpConnection } from './connection.ts';
import { getPrompt, type McpPrompt } from './prompts.ts';
import { ResourceLists } from './resource-lists.ts';
import { listResources, listTemplates, type McpResource, type McpResourceTemplate, readResource } from './resources.ts';

/** Values of a prompt's arguments, by name. */
export type PromptArguments = Readonly<Record<string, string>>;

/** Methods of one server that read. All throw `cancelled`, `timeout` or `tool_failed`. */
export interface ServerReads {
  getPrompt(prompt: McpPrompt, args: PromptArguments, signal: AbortSignal): Promise<readonly ResultContentBlock[]>;
  listResources(signal: AbortSignal): Promise<readonly McpResource[]>;
  listTemplates(signal: AbortSignal): Promise<readonly McpResourceTemplate[]>;
  readResource(uri: string, signal: AbortSignal): Promise<McpOutput>;
  complete(request: CompletionRequest, signal: AbortSignal): Promise<Completion>;
  /** The latest lists of its resources and templates. */
  readonly resourceLists: ResourceLists;
}

/** Create the methods. Each request may be sent twice. @param onResources Called when its resources may have changed. */
export function serverReads(
  connection: Pick<McpConnection, 'request'>,
  limits: Limits,
  onResources: () => void,
): ServerReads {
  const read = <Value>(signal: AbortSignal, run: (client: Client) => Promise<Value>) =>
    connection.request({ signal, isRepeatable: true, run });
  const lists: Pick<ServerReads, 'listResources' | 'listTemplates'> = {
    listResources: (signal) => read(signal, (client) => listResources(client, limits, signal)),
    listTemplates: (signal) => read(signal, (client) => listTemplates(client, limits, signal)),
  };
  return {
    ...lists,
    resourceLists: new ResourceLists({ ...lists, onChange: onResources }),
    getPrompt: (prompt, args, signal) => read(signal, (client) => getPrompt(client, prompt, args, limits, signal)),
    readResource: (uri, signal) => read(signal, (client) => readResource(client, uri, limits, signal)),
    complete: (request, signal) => read(signal, (client) => complete(client, request, limits, signal)),
  };
}
