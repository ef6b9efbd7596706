/**
 * Requests completions of an argument of a prompt or a template from its server.
 */
import type { Client } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';

/** Values of one completion, as MCP bounds them. */
const MAX_VALUES = 100;

/** Longest value, in characters; a longer one is left out, since a part of it would be another value. */
const MAX_VALUE_CHARS = 8_000;

/** Time for one completion: a person who types has gone on by then. */
const COMPLETION_MS = 10_000;

const Completed = z.looseObject({
  completion: z.looseObject({
    values: z.array(z.unknown()),
    total: z.number().int().nonnegative().optional().catch(undefined),
    hasMore: z.boolean().optional().catch(undefined),
  }),
});

/** A request for completions, with names as the server knows them. */
export interface CompletionRequest {
  readonly ref:
    { readonly type: 'ref/prompt'; readonly name: string } | { readonly type: 'ref/resource'; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> | undefined } | undefined;
}

/** Possible values. */
export interface Completion {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore?: boolean;
}

/** Request completions; none of a server that does not offer them. @throws The SDK's error. */
export async function complete(
  client: Client,
  request: CompletionRequest,
  limits: Pick<Limits, 'mcpCallIdleMs'>,
  signal: AbortSignal,
): Promise<Completion> {
  if (client.getServerCapabilities()?.completions === undefined) return { values: [] };
  const options = { signal, timeout: Math.min(COMPLETION_MS, limits.mcpCallIdleMs) };
  const { completion } = await client.request(
    { method: 'completion/complete', params: { ...request } },
    Completed,
    options,
  );
  const { total, hasMore } = completion;
  const values = completion.values.filter((value) => typeof value === 'string' && value.length <= MAX_VALUE_CHARS);
  return {
    values: values.slice(0, MAX_VALUES) as string[],
    ...(total !== undefined && { total }),
    ...((hasMore === true || values.length > MAX_VALUES) && { hasMore: true }),
  };
}
