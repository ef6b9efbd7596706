/**
 * Completes arguments of prompts and templates for MCP clients: those of MCP servers, by the server that they are from.
 */
import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import { GauntletError } from '../../src/base/errors.ts';
import type { CompletionRequest } from '../../src/mcp/completions.ts';
import type { Session } from '../../src/session/session.ts';
import { answered } from './protocol-error.ts';
import { parseResourceUri } from './resource-uri.ts';
import { type PromptOptions, upstreamPrompts } from './session-prompts.ts';
import type { ResourceOptions } from './session-resources.ts';
import { visibleUpstreams } from './visible-upstreams.ts';

type Ref = CompletionRequest['ref'];

/** Add the completions. */
export function addCompletions(server: Server, options: PromptOptions & ResourceOptions): void {
  server.setRequestHandler('completion/complete', ({ params: { ref, argument, context: sent } }, context) =>
    answered(async () => {
      const session = await options.session();
      const target = targetOf(ref, session, options);
      if (target === undefined) return { completion: { values: [] } };
      const request = { ref: target.ref, argument, ...(sent && { context: sent }) };
      const { signal } = context.mcpReq;
      const { values, ...counts } = await options.upstreams
        .complete(target.server, request, signal, session.principal)
        .catch((error: unknown) => refuse(error));
      return { completion: { values: [...values], ...counts } };
    }),
  );
}

/** A server that has no completions for it says so in its own words. */
function refuse(error: unknown): never {
  if (error instanceof GauntletError && error.code === 'tool_failed')
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  throw error;
}

/** Find the server that a prompt or a template is from; undefined if it is one of ours, which have no completions. */
function targetOf(ref: Ref, session: Session, options: PromptOptions & ResourceOptions) {
  if (ref.type === 'ref/prompt') {
    const prompt = upstreamPrompts(options, session).find(({ name }) => name === ref.name);
    return prompt && { server: prompt.server, ref: { ...ref, name: prompt.sentName } };
  }
  const address = parseResourceUri(ref.uri);
  if (address?.kind !== 'upstream' || address.sessionId !== session.id) return undefined;
  if (!visibleUpstreams(options, session).includes(address.server)) return undefined;
  return { server: address.server, ref: { ...ref, uri: address.uri } };
}
