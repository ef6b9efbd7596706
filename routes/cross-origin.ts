/**
 * CORS, for listed origins only: without a list there is none.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Tell a browser that its listed page may read the reply. */
export function allowOrigin(origin: string, reply: FastifyReply, origins: ReadonlySet<string>): void {
  if (!origins.has(origin)) return;
  reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
  reply.header('access-control-expose-headers', 'ETag, Retry-After');
}

/** Whether this is a listed page's question before the request: it carries no credential. */
export function isPreflight(request: FastifyRequest, origins: ReadonlySet<string>): boolean {
  const { method, headers } = request.raw;
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  return headers.origin !== undefined && origins.has(headers.origin);
}

/** Answer a preflight, whatever its path: the request itself is judged when it comes. */
export function answerPreflight(reply: FastifyReply): void {
  reply
    .code(204)
    .header('access-control-allow-methods', 'GET, POST, DELETE')
    .header('access-control-allow-headers', 'Authorization, Content-Type, If-None-Match, Last-Event-ID')
    .header('access-control-max-age', '600')
    .send();
}
