/**
 * The endpoint of one upstream for one principal: an MCP session has a connection of its own to the upstream, and requests
 * of the modern era share those of clients with the same capabilities.
 */
import {
  type ClientCapabilities,
  InMemoryServerEventBus,
  type Server,
  type ServerEvent,
} from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';
import type { LinkHandlers } from '../../src/mcp/link-handlers.ts';
import type { McpLink } from '../../src/mcp/link.ts';
import type { Session } from '../../src/session/session.ts';
import type { McpDoorContext } from './dependencies.ts';
import { announce, type EndpointOptions, type Era, McpEndpoint } from './endpoint.ts';
import { MAX_LISTENED_RESOURCES, updatePublisher } from './resource-updates.ts';
import { type Connected, connect, type UpstreamOptions, upstreamServer } from './upstream.ts';

/** Options that all endpoints share. */
export type EndpointParts = Pick<EndpointOptions, 'principal' | 'address' | 'sessions' | 'onError'> &
  Pick<UpstreamOptions, 'mint' | 'verify'>;

/** The upstream, and whose it is. */
interface UpstreamParts extends EndpointParts {
  readonly name: string;
  session(): Promise<Session>;
}

/** Create the endpoint. */
export function upstreamEndpoint(context: McpDoorContext, { mint, verify, name, session, ...parts }: UpstreamParts) {
  const bus = new InMemoryServerEventBus(parts.onError);
  const shared = new Map<string, Promise<Connected>>();

  async function open(handlers: LinkHandlers): Promise<McpLink> {
    const owner = { principal: parts.principal, sessionId: (await session()).id };
    return context.upstreams.openOwned(name, owner, handlers, new AbortController().signal);
  }

  async function createServer(era: Era, declared: ClientCapabilities): Promise<Server> {
    const common = { ...context, name, era, declared, session, open, mint, verify };
    if (era === 'modern') {
      const options = { ...common, publish: publishLists };
      return upstreamServer(options, await sharedLink(options));
    }
    const events = new InMemoryServerEventBus(parts.onError);
    const options = { ...common, publish: (event: ServerEvent) => events.publish(event) };
    const connected = await connect(options);
    const server = upstreamServer(options, connected);
    events.subscribe((event) => void announce(server, event).catch(parts.onError));
    // Either end takes the other with it: the client begins another MCP session. What it waits for is answered before.
    server.onclose = () => void connected.link.close();
    void connected.link.closed.then(() => connected.requests.replied()).then(() => server.close());
    return server;
  }

  function sharedLink(options: UpstreamOptions): Promise<Connected> {
    const key = capabilityKey(options.declared);
    const known = shared.get(key);
    if (known) return known;
    const connecting = connect(options);
    shared.set(key, connecting);
    const forget = () => void shared.delete(key);
    connecting.then(({ link }) => link.closed.then(forget), forget);
    return connecting;
  }

  function onClose(): void {
    for (const connecting of shared.values()) {
      connecting.then(
        ({ link }) => link.close(),
        // It never opened.
        () => undefined,
      );
    }
  }

  /** Updates come by `onListen`, over the connection that is restored when it breaks. */
  function publishLists(event: ServerEvent): void {
    if (event.kind !== 'resource_updated') bus.publish(event);
  }

  const publishUpdate = updatePublisher((event) => bus.publish(event));
  function onListen(resources: readonly string[]): () => void {
    const subscriber = { id: `client ${randomUUID()}`, onUpdated: publishUpdate };
    for (const uri of resources.slice(0, MAX_LISTENED_RESOURCES))
      context.upstreams.subscribe(name, uri, subscriber, parts.principal);
    return () => context.upstreams.endSubscriptions(subscriber.id);
  }

  return new McpEndpoint({ ...parts, bus, createServer, onListen, announcesItself: true, onClose });
}

/** Name the capabilities that a connection to the upstream differs by. Clients may declare any number of others. */
function capabilityKey({ elicitation, sampling, roots }: ClientCapabilities): string {
  const parts = { form: elicitation?.form, url: elicitation?.url, tools: sampling?.tools, context: sampling?.context };
  const names = Object.entries({ elicitation, sampling, roots, ...parts }).filter(([, value]) => value !== undefined);
  return names.map(([name]) => name).join(' ');
}
