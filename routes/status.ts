/**
 * `/healthz`, `/readyz` and `/metrics`, for monitoring.
 */
import type { Registry } from 'prom-client';
import * as z from 'zod';
import type { Dependencies } from './dependencies.ts';
import { RETRY_AFTER_MS } from './error-reply.ts';
import type { App } from './request-schemas.ts';

/** `?verbose` adds what the server detected about its machine. */
const ReadyQuery = z.strictObject({
  verbose: z
    .enum(['', '1', 'true', '0', 'false'])
    .optional()
    .transform((text) => text !== undefined && text !== '0' && text !== 'false'),
});

/** Register the routes for operators. */
export function statusDoor(app: App, { readiness, containment, metrics, version }: Dependencies): void {
  const alive = { isPublic: true, summary: 'Alive', reply: { json: 'Health' } } as const;
  app.get('/healthz', { config: alive, exposeHeadRoute: true }, (_request, reply) =>
    reply.send({ status: 'ok', version }),
  );

  app.get(
    '/readyz',
    {
      schema: { querystring: ReadyQuery },
      config: { summary: 'Ready to take work', reply: { statuses: [200, 503], json: 'Readiness' } },
    },
    async (request, reply) => {
      const { verbose } = request.query;
      const body = { status: readiness(), ...(verbose && { containment: await containment() }) };
      if (body.status === 'ready') return reply.send(body);
      return reply
        .code(503)
        .header('retry-after', String(Math.ceil(RETRY_AFTER_MS / 1_000)))
        .send(body);
    },
  );

  let registry: Promise<Registry> | undefined;
  app.get(
    '/metrics',
    { config: { summary: 'Metrics for Prometheus', reply: { text: ['text/plain'] } } },
    async (_request, reply) => {
      registry ??= openRegistry();
      const process = await registry;
      const text = (metrics?.() ?? '') + (await process.metrics());
      return reply.header('content-type', process.contentType).send(text);
    },
  );
}

/** Figures of the process. Loaded on the first request, since most servers are never scraped. */
async function openRegistry(): Promise<Registry> {
  // In the bundle, the module has only its default export; named exports exist in Node alone.
  const { default: prometheus } = await import('prom-client');
  const registry = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: registry });
  return registry;
}
