/**
 * `/healthz`, `/readyz` and `/metrics`, for monitoring.
 */
import type { Registry } from 'prom-client';
import * as z from 'zod';
import { GauntletError } from '../src/base/errors.ts';
import type { Dependencies } from './dependencies.ts';
import { RETRY_AFTER_MS } from './error-reply.ts';
import type { App } from './request-schemas.ts';

/** Names of MCP servers in one query. */
const MAX_NAMES_CHARS = 4_096;

/** `?verbose` adds what the server detected about its machine. */
const ReadyQuery = z.strictObject({
  verbose: z
    .enum(['', '1', 'true', '0', 'false'])
    .optional()
    .transform((text) => text !== undefined && text !== '0' && text !== 'false'),
  mcp: z
    .string()
    .min(1)
    .max(MAX_NAMES_CHARS)
    .optional()
    .describe('Names of MCP servers, with commas between, that must be connected')
    .transform((names = '') => names.split(',').filter((name) => name !== '')),
});

/** Register the routes for operators. */
export function statusDoor(app: App, { readiness, containment, logins, metrics, version }: Dependencies): void {
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
      const { verbose, mcp } = request.query;
      const missing = missingServers(logins.states(request.principal), mcp);
      const now = readiness();
      const body = {
        status: now === 'ready' && missing.length > 0 ? 'starting' : now,
        ...(missing.length > 0 && { mcp_missing: missing }),
        ...(verbose && { containment: await containment(), uptime_ms: Math.round(process.uptime() * 1_000) }),
      };
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
      const own = await registry;
      const text = (metrics?.() ?? '') + (await own.metrics());
      return reply.header('content-type', own.contentType).send(text);
    },
  );
}

/** List those of the named servers that are not connected. @throws {GauntletError} `invalid_request` for an unknown name */
function missingServers(
  states: ReturnType<Dependencies['logins']['states']>,
  names: readonly string[],
): readonly { readonly name: string; readonly state: string; readonly reason?: string }[] {
  return names.flatMap((name) => {
    const server = states.find((each) => each.name === name);
    if (server === undefined) {
      const message = `Cannot wait for MCP server "${name}": the settings name none like this`;
      throw new GauntletError('invalid_request', message, { details: { path: 'mcp' } });
    }
    const { state, reason } = server;
    return state === 'connected' ? [] : [{ name, state, ...(reason !== undefined && { reason }) }];
  });
}

/** Figures of the process. Loaded on the first request, since most servers are never scraped. */
async function openRegistry(): Promise<Registry> {
  // In the bundle, the module has only its default export; named exports exist in Node alone.
  const { default: prometheus } = await import('prom-client');
  const registry = new prometheus.Registry();
  prometheus.collectDefaultMetrics({ register: registry });
  return registry;
}
