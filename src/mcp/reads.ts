/**
 * Reads of prompts, resources, templates and completions, by the name of their server, and subscriptions.
 */
import type { ResultContentBlock } from '../wire/blocks.ts';
import type { McpOutput } from './call-result.ts';
import type { Completion, CompletionRequest } from './completions.ts';
import type { McpPrompt } from './prompts.ts';
import type { McpResource, McpResourceTemplate } from './resources.ts';
import type { PromptArguments, ServerReads } from './server-reads.ts';
import type { ServerSet } from './server-set.ts';
import type { ResourceSubscriber } from './subscriptions.ts';

/** Methods of the connections that read and subscribe. */
export interface McpReads {
  /** Get the messages of a prompt, as blocks for a model. @throws {GauntletError} As `ready`, or `timeout`. */
  getPrompt(
    prompt: McpPrompt,
    args: PromptArguments,
    signal: AbortSignal,
    principal?: string,
  ): Promise<readonly ResultContentBlock[]>;
  /** Return the latest list of a server's resources, as `ResourceLists`; none of one that is not there. */
  recentResources(name: string, signal: AbortSignal, principal?: string): Promise<readonly McpResource[]>;
  /** As `recentResources`, of its templates. */
  recentTemplates(name: string, signal: AbortSignal, principal?: string): Promise<readonly McpResourceTemplate[]>;
  /** @throws {GauntletError} As `getPrompt`. */
  listResources(name: string, signal: AbortSignal, principal?: string): Promise<readonly McpResource[]>;
  /** @throws {GauntletError} As `listResources`. */
  readResource(name: string, uri: string, signal: AbortSignal, principal?: string): Promise<McpOutput>;
  /** @throws {GauntletError} As `getPrompt`. */
  listTemplates(name: string, signal: AbortSignal, principal?: string): Promise<readonly McpResourceTemplate[]>;
  /** Complete an argument of a prompt or a template. @throws {GauntletError} As `getPrompt`. */
  complete(name: string, request: CompletionRequest, signal: AbortSignal, principal?: string): Promise<Completion>;
  /** Subscribe to a resource, where its server has subscriptions. Returns at once, and holds up nothing. */
  subscribe(name: string, uri: string, subscriber: ResourceSubscriber, principal?: string): void;
  /** End a subscription. */
  unsubscribe(name: string, uri: string, subscriberId: string): void;
  /** End all subscriptions of one subscriber. */
  endSubscriptions(subscriberId: string): void;
}

/** Create the methods. @param serverNamed Finds the server that a principal uses. */
export function createReads(
  serverNamed: (name: string, principal?: string) => Promise<ServerReads>,
  servers: ServerSet,
): McpReads {
  return {
    getPrompt: async (prompt, args, signal, who) =>
      (await serverNamed(prompt.server, who)).getPrompt(prompt, args, signal),
    listResources: async (name, signal, who) => (await serverNamed(name, who)).listResources(signal),
    recentResources: async (name, signal, who) => servers.find(name, who)?.resourceLists.resources(signal) ?? [],
    recentTemplates: async (name, signal, who) => servers.find(name, who)?.resourceLists.templates(signal) ?? [],
    readResource: async (name, uri, signal, who) => (await serverNamed(name, who)).readResource(uri, signal),
    listTemplates: async (name, signal, who) => (await serverNamed(name, who)).listTemplates(signal),
    complete: async (name, request, signal, who) => (await serverNamed(name, who)).complete(request, signal),
    subscribe: (name, uri, subscriber, who) => servers.find(name, who)?.subscriptions.add(uri, subscriber, who),
    unsubscribe: (name, uri, id) => servers.named(name).forEach((one) => one.subscriptions.remove(uri, id)),
    endSubscriptions: (id) => servers.all().forEach((server) => server.subscriptions.removeAll(id)),
  };
}
