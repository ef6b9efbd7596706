/**
 * Reads of prompts, resources, templates and completions, by the name of their server.
 */
import type { ResultContentBlock } from '../wire/blocks.ts';
import type { McpOutput } from './call-result.ts';
import type { Completion, CompletionRequest } from './completions.ts';
import type { McpPrompt } from './prompts.ts';
import type { McpResource, McpResourceTemplate } from './resources.ts';
import type { PromptArguments, ServerReads } from './server-reads.ts';

/** Methods of the connections that read. */
export interface McpReads {
  /** Get the messages of a prompt, as blocks for a model. @throws {GauntletError} As `ready`, or `timeout`. */
  getPrompt(
    prompt: McpPrompt,
    args: PromptArguments,
    signal: AbortSignal,
    principal?: string,
  ): Promise<readonly ResultContentBlock[]>;
  /** @throws {GauntletError} As `getPrompt`. */
  listResources(name: string, signal: AbortSignal, principal?: string): Promise<readonly McpResource[]>;
  /** @throws {GauntletError} As `listResources`. */
  readResource(name: string, uri: string, signal: AbortSignal, principal?: string): Promise<McpOutput>;
  /** @throws {GauntletError} As `getPrompt`. */
  listTemplates(name: string, signal: AbortSignal, principal?: string): Promise<readonly McpResourceTemplate[]>;
  /** Complete an argument of a prompt or a template. @throws {GauntletError} As `getPrompt`. */
  complete(name: string, request: CompletionRequest, signal: AbortSignal, principal?: string): Promise<Completion>;
}

/** Create the methods. @param serverNamed Finds the server that a principal uses. */
export function createReads(serverNamed: (name: string, principal?: string) => Promise<ServerReads>): McpReads {
  return {
    getPrompt: async (prompt, args, signal, who) =>
      (await serverNamed(prompt.server, who)).getPrompt(prompt, args, signal),
    listResources: async (name, signal, who) => (await serverNamed(name, who)).listResources(signal),
    readResource: async (name, uri, signal, who) => (await serverNamed(name, who)).readResource(uri, signal),
    listTemplates: async (name, signal, who) => (await serverNamed(name, who)).listTemplates(signal),
    complete: async (name, request, signal, who) => (await serverNamed(name, who)).complete(request, signal),
  };
}
