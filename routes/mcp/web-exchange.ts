/**
 * Converts between Fastify's requests and replies and those of the web platform, which the MCP SDK speaks.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Limits } from '../../config/limits.ts';
import { pipeReply } from '../pipe-reply.ts';

/** Headers that an MCP transport reads, beside those that begin with `mcp-`. */
const READ_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'last-event-id']);

/** Convert a request. Its body was parsed already and is not part of it. @param gone Aborted when the client is gone. */
export function toWebRequest({ method, url, headers }: FastifyRequest, gone: AbortSignal): Request {
  const read = Object.entries(headers).filter(([name]) => READ_HEADERS.has(name) || name.startsWith('mcp-'));
  // A header that was sent twice is joined, as the web platform does.
  const pairs = read.map(([name, value]): [string, string] => [name, [value].flat().join(', ')]);
  return new Request(`http://server${url}`, { method, headers: pairs, signal: gone });
}

/** Send a reply; one that streams is written at the reader's pace. */
export async function sendWebResponse(
  response: Response,
  reply: FastifyReply,
  gone: AbortSignal,
  limits: Pick<Limits, 'slowReaderMs' | 'webSocketPingMs'>,
): Promise<void> {
  const { status, headers, body } = response;
  const contentType = headers.get('content-type') ?? '';
  const sessionId = headers.get('mcp-session-id');
  if (sessionId !== null) reply.header('mcp-session-id', sessionId);
  const allow = headers.get('allow');
  if (allow !== null) reply.header('allow', allow);
  if (body !== null && contentType.startsWith('text/event-stream')) {
    return pipeReply(reply, { contentType, chunks: textOf(body) }, gone, limits);
  }
  if (contentType !== '') reply.header('content-type', contentType);
  await reply.code(status).send(body === null ? '' : await response.text());
}

async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of body) yield decoder.decode(chunk, { stream: true });
}
